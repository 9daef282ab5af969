/** The behaviour of dialogs of the console in Chromium, and the screenshots of a refused update. */
import type { Page } from "playwright-core";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import type { ComparedPage } from "../screenshots/screenshots.ts";
import { addMail } from "../store/testing/rows.ts";
import { goTo, problemsOf, useConsolePages } from "./testing/consolePages.ts";
import { peopleOf } from "./testing/people.ts";

const screenshots = new Map<string, readonly ComparedPage[]>();
const pages = useConsolePages({ findScreenshots: async (id) => screenshots.get(id) ?? [] });
let page: Page;
let site: { readonly siteId: string; readonly liveId: string };

beforeAll(async () => {
  const { server, open } = pages.current;
  site = await server.addSiteWithEnvironment();
  page = await open(await peopleOf({ current: server }).add({ role: "owner" }), "/account");
});

const onePixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

it("shows the reason of a refused update with the screenshots of the page that differs most", async () => {
  const versions = pages.current.server.database.updateTable("environments").set({ wordpress_version: "7.1" });
  await versions.where("id", "=", site.liveId).execute();
  const body = { update_version: "99.0" };
  const update = await pages.current.server.call("PUT", `/v2/sites/environments/${site.liveId}/wordpress`, { body });
  const id: string = update.body.operation_id;
  const picture = { bytes: onePixel.length, png: onePixel };
  const compared = [
    { path: "/", share: 0.01, before: picture, after: picture },
    { path: "/shop/", share: 0.34, before: picture, after: picture },
  ];
  screenshots.set(id.slice(-36), compared);
  await pages.current.server.fail(id, "The page /shop/ looks 34 % different.");

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
  const context = page.context();
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
  const siteId = await pages.current.server.addSite({ display_name: "Bakery" });
  await pages.current.server.deleteSite(siteId);
  await page.setViewportSize({ width: 390, height: 844 });
  await goTo(page, "/deleted-sites");
  await page.getByRole("button", { name: "Restore Bakery" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("New name").fill("Bakery 2");
  await dialog.getByRole("button", { name: "Restore" }).click();
  await page.waitForURL(/\/operations\//);
  const operationId = decodeURIComponent(page.url().split("/operations/")[1] ?? "");
  const { kind } = await pages.current.server.database
    .selectFrom("operations")
    .select("kind")
    .where("id", "=", operationId)
    .executeTakeFirstOrThrow();
  expect(kind).toBe("restoreDeletedSite");
});

it("deletes a mail only after a question", async () => {
  const { server } = pages.current;
  await addMail(server.database, site.liveId, { subject: "An order" });
  const count = async () => {
    const path = `/v2/sites/environments/${site.liveId}/mails`;
    return (await server.call("GET", path)).body.environment.mails.items.length;
  };
  await goTo(page, `/sites/${site.siteId}?tab=mail`);
  await page.getByRole("button", { name: "Delete An order" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("This can't be undone.").waitFor();
  expect(await count()).toBe(1);
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("This environment has sent no mail yet").waitFor();
  expect(await count()).toBe(0);
});
