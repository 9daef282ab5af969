/** Dialogs of a site's page in Chromium, and the screenshots of a refused update. */
import { launchBrowser } from "@sitewright/e2e/browser.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { ComparedPage } from "../screenshots/screenshots.ts";
import { addMail, addOwnDomain } from "../store/testing/rows.ts";
import { builtConsole } from "./testing/console.ts";
import { goTo, problemsOf, signIn } from "./testing/consolePages.ts";
import { peopleOf } from "./testing/people.ts";
import { startTestServer, type TestServer } from "./testing/server.ts";

const screenshots = new Map<string, readonly ComparedPage[]>();
let server: TestServer & AsyncDisposable;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let origin: string;
let site: { readonly siteId: string; readonly id: string; readonly liveId: string };

beforeAll(async () => {
  const findScreenshots = async (id: string) => screenshots.get(id) ?? [];
  server = await startTestServer({ console: await builtConsole(), findScreenshots });
  origin = `http://127.0.0.1:${await server.listen()}`;
  site = await server.addSiteWithEnvironment();
  await server.addBackup(site.liveId);
  await addMail(server.database, site.liveId, { subject: "An order" });
  await addOwnDomain(server.database, site.liveId, { name: "shop.example.com" });
  browser = await launchBrowser();
  context = await browser.newContext({ reducedMotion: "reduce" });
  page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${origin}/sites`);
  await signIn(page, await peopleOf({ current: server }).add({ role: "owner" }));
  await page.getByRole("heading", { name: "Sites" }).waitFor();
});

afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
});

/** The problems of the dialog that is open, in each width and colour scheme. */
async function problemsOfDialog(): Promise<unknown[]> {
  const dialog = "[role=dialog]";
  const found: unknown[] = [];
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme: "light" });
    found.push(await problemsOf(page, { within: dialog }));
    await page.emulateMedia({ colorScheme: "dark" });
    found.push(await problemsOf(page, { within: dialog, rule: "color-contrast" }));
    found.push(await page.evaluate("document.documentElement.scrollWidth - window.innerWidth"));
  }
  return found;
}

const noProblems = [[], [], 0, [], [], 0];

/** The tab, and the button that opens the dialog. */
const dialogs: readonly (readonly [tab: string, button: RegExp])[] = [
  ["backups", /^Restore the backup of/],
  ["backups", /^Delete the backup of/],
  ["domains", /^Set up shop/],
  ["domains", /^Make primary: shop/],
  ["domains", /^Remove shop/],
  ["environments", /^Delete the environment/],
  ["environments", /^Delete the site/],
  ["environments", /^Reset the site/],
  ["mail", /^Read An order/],
  ["mail", /^Delete all mail/],
  ["tools", /^Show as curl/],
];

describe("axe objects to nothing in a dialog at 390 and 1440 pixels, in light and dark colours:", () => {
  it.each(dialogs)("%s, %s", async (tab, name) => {
    const environment = tab === "environments" ? `&environment=${site.id}` : "";
    await page.setViewportSize({ width: 1440, height: 844 });
    await goTo(page, `/sites/${site.siteId}?tab=${tab}${environment}`);
    await page.getByRole("button", { name }).first().click();
    await page.getByRole("dialog").waitFor();
    await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
    const problems = await problemsOfDialog();
    // Before the assertion, so that the next dialog can be opened in any case.
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(problems).toEqual(noProblems);
  });
});

const onePixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

it("shows the reason of a refused update with the screenshots of the page that differs most", async () => {
  const versions = server.database.updateTable("environments").set({ wordpress_version: "7.1" });
  await versions.where("id", "=", site.liveId).execute();
  const body = { update_version: "99.0" };
  const update = await server.call("PUT", `/v2/sites/environments/${site.liveId}/wordpress`, { body });
  const id: string = update.body.operation_id;
  const picture = { bytes: onePixel.length, png: onePixel };
  const compared = [
    { path: "/", share: 0.01, before: picture, after: picture },
    { path: "/shop/", share: 0.34, before: picture, after: picture },
  ];
  screenshots.set(id.slice(-36), compared);
  await server.fail(id, "The page /shop/ looks 34 % different.");

  await page.setViewportSize({ width: 390, height: 844 });
  await goTo(page, `/sites/${site.siteId}?tab=updates`);
  await page.getByRole("cell", { name: "The page /shop/ looks 34 % different." }).waitFor();
  await page.getByRole("link", { name: "Show the update of" }).click();
  await page.getByRole("alert").getByText("The page /shop/ looks 34 % different.").waitFor();
  await page.getByRole("slider", { name: "How much is shown as it was before" }).press("Home");
  await page.getByRole("img", { name: "before the update" }).waitFor();
  expect([await problemsOf(page), await page.evaluate("document.documentElement.scrollWidth")]).toEqual([[], 390]);
  await page.getByText("Side by side").click();
  await page.getByRole("figure").filter({ hasText: "After" }).waitFor();
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await problemsOf(page)).toEqual([]);
});

it("keeps what was typed while the connection is lost", async () => {
  await goTo(page, `/sites/${site.siteId}?tab=environments`);
  const name = page.getByLabel("Name of the copy");
  await name.fill("Half typed");
  onTestFinished(() => context.setOffline(false));
  await context.setOffline(true);
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByText("Sitewright can't be reached. Trying again …").waitFor();
  expect(await name.inputValue()).toBe("Half typed");
  await context.setOffline(false);
  await page.getByText("Sitewright can't be reached. Trying again …").waitFor({ state: "hidden" });
  expect(await name.inputValue()).toBe("Half typed");
});

it("restores a deleted site under another name", async () => {
  const siteId = await server.addSite({ display_name: "Bakery" });
  await server.deleteSite(siteId);
  await page.setViewportSize({ width: 390, height: 844 });
  await goTo(page, "/deleted-sites");
  await page.getByRole("button", { name: "Restore Bakery" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("New name").fill("Bakery 2");
  expect(await problemsOfDialog()).toEqual(noProblems);
  await dialog.getByRole("button", { name: "Restore" }).click();
  await page.waitForURL(/\/operations\//);
  const operationId = decodeURIComponent(page.url().split("/operations/")[1] ?? "");
  const { kind } = await server.database
    .selectFrom("operations")
    .select("kind")
    .where("id", "=", operationId)
    .executeTakeFirstOrThrow();
  expect(kind).toBe("restoreDeletedSite");
});
