/** End-to-end tests of WordPress administrators: created and logged in through the API, in a real browser. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { type CreatedSite, createSite } from "./sites.ts";

let home: TestFolder;
let installation: Installation;
let browser: Browser;
let site: CreatedSite;

beforeAll(async () => {
  home = await createFolder();
  installation = await startHere(home.folder);
  browser = await launchBrowser();
  site = await createSite(installation, { display_name: "Harbour" });
});

afterAll(async () => {
  await browser?.close();
  await installation?.stop();
  await home?.remove();
});

const email = "grace.o'hara+web@example.com";

function call(method: string, path: string, body?: object) {
  return installation.api(method, `/sites/environments/${site.environmentId}/${path}`, body);
}

async function isAdministrator(): Promise<boolean> {
  const answer = await call("GET", `wpa-user-exists?email=${encodeURIComponent(email.toUpperCase())}`);
  return answer.json<{ has_wp_admin_user: boolean }>().has_wp_admin_user;
}

test("an administrator can be created while the site sleeps", async () => {
  expect(await isAdministrator()).toBe(false);
  const made = await call("POST", "wpa-create-user", { email, first_name: 'Grace "🦄"', last_name: "O'Hara \\" });
  expect({ status: made.status, text: made.text }).toEqual({ status: 200, text: '{"create_wp_admin_user":true}' });
  expect(await isAdministrator()).toBe(true);
});

test("a login link opens the dashboard once, even after a link preview, and is then invalid", async () => {
  const answer = await call("POST", "wpa-login-url", { email });
  const { login_link: link } = answer.json<{ login_link: string }>();
  expect(link.startsWith(`${site.address}/`)).toBe(true);
  // A program that previews links.
  expect((await installation.visit(link)).status).toBe(200);

  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(link);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(/\/wp-admin\//);
  // If the browser has no font for the emoji, WordPress's own script replaces it with an image.
  expect(await page.locator("#wpadminbar").textContent()).toMatch(/Grace "(🦄)?" O'Hara/);
  expect(await page.evaluate("document.referrer")).toBe("");

  const otherVisitor = await browser.newContext();
  const late = await otherVisitor.newPage();
  const response = await late.goto(link);
  expect(response?.status()).toBe(410);
  expect(await late.locator("h1").textContent()).toBe("This login link is no longer valid");
  await late.goto(`${site.address}/wp-admin/`);
  expect(late.url()).toContain("wp-login.php");
});

test("no log of the installation contains the link", () => {
  expect(installation.output()).not.toContain("sitewright-login?token=");
});
