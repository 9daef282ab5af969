/** The product's promise, tested end to end: a clone, one command, one request, a WordPress site. */
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { launchBrowser } from "./browser.ts";
import { cloneRepository, type Installation, sharedAssets, start, type TestFolder } from "./installation.ts";
import { type CreatedSite, createSite, followOperation } from "./sites.ts";

const password = `it's "quoted" \\ $HOME Ünïcode 🔑`;
const title = `Tom & "Jerry's" <Café> 🍜`;

let clone: TestFolder;
let installation: Installation;
let browser: Browser;
let page: Page;
let site: CreatedSite;

beforeAll(async () => {
  clone = await cloneRepository();
  await shareCompiledCode(join(clone.folder, "data", "assets"));
  installation = await start(clone.folder);
  browser = await launchBrowser();
  page = await browser.newPage();
  // The editor's first load makes dozens of requests to PHP.
  page.setDefaultTimeout(120_000);
});

afterAll(async () => {
  await browser?.close();
  await installation?.stop();
  await clone?.remove();
});

/**
 * Everything is installed from scratch, except that PHP is compiled once for all tests. `compiled.test.ts` has the tests
 * of that.
 */
async function shareCompiledCode(assets: string): Promise<void> {
  const shared = join(sharedAssets, "compiled");
  await mkdir(shared, { recursive: true });
  await mkdir(assets, { recursive: true });
  await symlink(shared, join(assets, "compiled"));
}

describe("a fresh clone", () => {
  test("prints the API URL, the company and an example request, but no secret", () => {
    const { api_url, company_id, api_key, admin_password } = installation.firstRun;
    expect(installation.output()).toContain(api_url);
    expect(installation.output()).toContain(company_id);
    expect(installation.output()).not.toContain(api_key);
    expect(installation.output()).not.toContain(admin_password);
    expect(installation.output()).toMatch(/curl .*\/v2\/sites/);
  });

  test("writes the file of the first run for its owner only", async () => {
    const file = await stat(join(installation.data, "first-run.json"));
    expect(file.mode & 0o777).toBe(0o600);
  });
});

describe("a site", () => {
  test("is created by one request and shows its title on the front page", async () => {
    site = await createSite(installation, { display_name: "Tom's Café", site_title: title, admin_password: password });
    await page.goto(site.address);
    await expect(page.title()).resolves.toContain("Tom");
    expect(await page.locator("body").textContent()).toMatch(/Tom & .Jerry.s. <Café>/);
    // If the browser has no font for the emoji, WordPress's own script replaces it with an image.
    expect(await page.locator("body").innerHTML()).toContain("🍜");
  });

  test("lets its administrator log in with exactly the given password", async () => {
    await page.goto(`${site.address}/wp-login.php`);
    await page.fill("#user_login", "owner");
    await page.fill("#user_pass", password);
    await page.click("#wp-submit");
    await page.waitForURL(/wp-admin/);
    expect(await page.locator("#wpadminbar").count()).toBe(1);
  });

  test("shows visitors a post that is published in the editor", async () => {
    await page.goto(`${site.address}/wp-admin/post-new.php`);
    const welcome = page.getByRole("dialog").getByRole("button", { name: "Close" });
    const heading = page
      .locator('iframe[name="editor-canvas"]')
      .contentFrame()
      .getByRole("textbox", { name: "Add title" })
      .or(page.getByRole("textbox", { name: "Add title" }));
    await heading.or(welcome).first().waitFor();
    if (await welcome.isVisible()) await welcome.click();
    await heading.fill("Soup of the day");
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await page.getByLabel("Editor publish").getByRole("button", { name: "Publish", exact: true }).click();
    await page
      .getByText(/is now live/)
      .first()
      .waitFor();
    const visitor = await installation.visit(`${site.address}/`);
    expect(visitor.status).toBe(200);
    expect(visitor.text).toContain("Soup of the day");
  });

  test("can be requested by its own PHP, as WordPress's health check does", async () => {
    const root = join(installation.data, "environments", site.environmentId, "current", "public");
    const script = "<?php echo substr_count(file_get_contents('http://' . $_SERVER['HTTP_HOST'] . '/'), '</html>');";
    await writeFile(join(root, "reach.php"), script);
    const answer = await installation.visit(`${site.address}/reach.php`);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: "1" });
  });

  test("leaves no page, no files and no worker after its deletion", async () => {
    const accepted = await installation.api("DELETE", `/sites/${site.id}`);
    expect(accepted.status).toBe(202);
    expect(accepted.json<{ message: string }>().message).toBe("Deleting site in progress");
    const ended = await followOperation(installation, accepted.json<{ operation_id: string }>().operation_id);
    expect(ended.status).toBe(200);

    expect((await installation.visit(`${site.address}/`)).status).toBe(404);
    expect((await installation.api("GET", `/sites/${site.id}`)).status).toBe(404);
    expect(existsSync(join(installation.data, "environments", site.environmentId))).toBe(false);
    expect(await readdir(join(installation.data, "environments"))).toEqual([]);
    await vi.waitFor(async () => expect(await workersOf(site.environmentId)).toEqual([]));
  });
});

/** Returns processes of this machine that have the environment in their command line or one of its files open. */
async function workersOf(environmentId: string): Promise<string[]> {
  const processes = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(processes.map((id) => refersTo(id, environmentId)));
  return processes.filter((_, index) => found[index]);
}

async function refersTo(processId: string, environmentId: string): Promise<boolean> {
  try {
    const command = await readFile(`/proc/${processId}/cmdline`, "utf8");
    if (command.includes(environmentId)) return true;
    const open = await readdir(`/proc/${processId}/fd`);
    const targets = await Promise.all(open.map((fd) => readlink(`/proc/${processId}/fd/${fd}`).catch(() => "")));
    const folder = await readlink(`/proc/${processId}/cwd`).catch(() => "");
    return [...targets, folder].some((target) => target.includes(environmentId));
  } catch {
    return false;
  }
}
