/** Administrators of a site's WordPress, made and let in from outside, in a real browser. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "./browser.ts";
import { cloneInstalled, type Installation, prepared, start } from "./installation.ts";
import { type CreatedSite, createSite } from "./sites.ts";

let clone: Awaited<ReturnType<typeof cloneInstalled>>;
let installation: Installation;
let browser: Browser;
let site: CreatedSite;

beforeAll(async () => {
  clone = await cloneInstalled();
  installation = await start(clone.folder, prepared);
  browser = await launchBrowser();
  site = await createSite(installation, { display_name: "Harbour" });
});

afterAll(async () => {
  await browser?.close();
  await installation?.stop();
  await clone?.remove();
});

const email = "grace.o'hara+web@example.com";

function ask(method: string, what: string, body?: object) {
  return installation.api(method, `/sites/environments/${site.environmentId}/${what}`, body);
}

async function isAdministrator(): Promise<boolean> {
  const answer = await ask("GET", `wpa-user-exists?email=${encodeURIComponent(email.toUpperCase())}`);
  return answer.json<{ has_wp_admin_user: boolean }>().has_wp_admin_user;
}

test("an administrator is made while the site sleeps, and is one from then on", async () => {
  expect(await isAdministrator()).toBe(false);
  const made = await ask("POST", "wpa-create-user", { email, first_name: 'Grace "🦄"', last_name: "O'Hara \\" });
  expect({ status: made.status, text: made.text }).toEqual({ status: 200, text: '{"create_wp_admin_user":true}' });
  expect(await isAdministrator()).toBe(true);
});

test("a login link opens the dashboard once, whatever looked at it before, and then says so", async () => {
  const answer = await ask("POST", "wpa-login-url", { email });
  const { login_link: link } = answer.json<{ login_link: string }>();
  expect(link.startsWith(`${site.address}/`)).toBe(true);
  // A program that shows previews of links.
  expect((await installation.visit(link)).status).toBe(200);

  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(link);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(/\/wp-admin\//);
  // Where the browser has no such letter, WordPress's own script puts a picture in its place.
  expect(await page.locator("#wpadminbar").textContent()).toMatch(/Grace "(🦄)?" O'Hara/);
  expect(await page.evaluate("document.referrer")).toBe("");

  const stranger = await browser.newContext();
  const late = await stranger.newPage();
  const over = await late.goto(link);
  expect(over?.status()).toBe(410);
  expect(await late.locator("h1").textContent()).toBe("This login link is no longer valid");
  await late.goto(`${site.address}/wp-admin/`);
  expect(late.url()).toContain("wp-login.php");
});

test("the link is in no log of the installation", () => {
  expect(installation.output()).not.toContain("sitewright-login?token=");
});
