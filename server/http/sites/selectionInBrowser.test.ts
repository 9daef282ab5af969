/** What is selected in the list of sites, and what actions do with it, in Chromium. */
import { noteSourceCheck } from "@sitewright/server/store/packages/packageChecks.ts";
import { addManySites } from "@sitewright/server/store/testing/manySites.ts";
import { putPackages } from "@sitewright/server/testing/packages.ts";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { useConsolePages } from "../testing/consolePages.ts";
import { peopleOf } from "../testing/people.ts";

const pages = useConsolePages();

const personOf = (role: "owner" | "developer" = "owner") => peopleOf({ current: pages.current.server }).add({ role });

const choose = async (page: Page, action: string) => {
  await page.getByRole("button", { name: "Actions", exact: true }).click();
  await page.getByRole("menuitem", { name: action }).click();
};

const liveOf = async (siteId: string): Promise<string> =>
  (await pages.current.server.call("GET", `/v2/sites/${siteId}`)).body.site.environments[0].id;

it("keeps the focus in the search field while its first and its last letter are typed and deleted", async () => {
  await pages.current.server.addSite({ display_name: "Focus" });
  const page = await pages.current.open(await personOf(), "/sites");
  const field = page.getByRole("searchbox", { name: "Search by name" });
  await field.click();
  await page.keyboard.type("f");
  await page.waitForURL(/search=f$/);
  await page.keyboard.type("ocus");
  await page.waitForURL(/search=focus$/);
  expect(await field.inputValue()).toBe("focus");
  for (const _ of "focus") await page.keyboard.press("Backspace");
  await page.waitForURL(/\/sites$/);
  await page.keyboard.type("nothing like it");
  await page.getByText("No site's name contains").waitFor();
  await page.getByRole("button", { name: "Show all sites" }).click();
  await page.waitForURL(/\/sites$/);
  expect(await field.inputValue()).toBe("");
  await page.context().close();
});

it("selects nothing that another filter no longer shows", async () => {
  await pages.current.server.addSite({ display_name: "Shown one" });
  await pages.current.server.addSite({ display_name: "Hidden one" });
  const page = await pages.current.open(await personOf(), "/sites");
  await page.getByLabel("Select Hidden one").check();
  await page.getByText("Selected: one site").waitFor();
  await page.getByRole("searchbox", { name: "Search by name" }).fill("shown");
  await page.getByText("Selected: 0 sites").waitFor();
  await page.getByRole("button", { name: "WordPress" }).click();
  await page.getByLabel("Select Shown one").check();
  await page.getByRole("button", { name: "PHP" }).click();
  await page.waitForURL(/order=php/);
  await page.getByText("Selected: one site").waitFor();
  await page.context().close();
});

it("leaves out selected sites that have been deleted since, and says so", async () => {
  const { server } = pages.current;
  await server.addSite({ display_name: "Stale first" });
  const second = await server.addSite({ display_name: "Stale second" });
  const page = await pages.current.open(await personOf(), "/sites?search=stale");
  await page.getByRole("button", { name: "Select all 2 that match" }).click();
  await page.getByText("Selected: 2 sites").waitFor();
  await server.deleteSite(second);
  await choose(page, "Delete");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("One selected site no longer matches").waitFor();
  await dialog.getByLabel("Type 1 to confirm").fill("1");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await choose(page, "Add a label");
  await dialog.getByText("One selected site no longer matches").waitFor();
  await page.context().close();
});

it("says that an update failed if nobody knows whether there is one, and that there is nothing to do if there is none", async () => {
  const { server } = pages.current;
  const unknown = await server.addSite({ display_name: "Update unknown" });
  const known = await server.addSite({ display_name: "Update known" });
  const shop = [{ name: "shop", version: "1.0" }];
  await putPackages(server.database, await liveOf(unknown), shop, "WordPress does not answer.");
  await putPackages(server.database, await liveOf(known), shop);
  await noteSourceCheck(server.database, null);
  const page = await pages.current.open(await personOf(), "/sites?search=update");
  await page.getByRole("button", { name: "Select all 2 that match" }).click();
  await choose(page, "Update plugins");
  await page.getByRole("button", { name: "Start for 2 sites" }).click();
  await page.getByText("0 succeeded, 1 failed, 1 with nothing to do").waitFor();
  await page.getByRole("button", { name: "Show what failed" }).click();
  await page.getByText("WordPress does not answer.").waitFor();
  await page.context().close();
});

it("does not offer a developer to delete sites, and says why", async () => {
  const siteId = await pages.current.server.addSite({ display_name: "Not theirs to delete" });
  const page = await pages.current.open(await personOf("developer"), `/sites/${siteId}?tab=environments`);
  const button = page.getByRole("button", { name: "Delete the site" });
  expect(await button.getAttribute("aria-disabled")).toBe("true");
  await page.getByText("Only owners and admins can delete sites.").waitFor({ state: "attached" });
  await page.goto(`${pages.current.origin}/sites/${siteId}?tab=settings`);
  const limits = page.getByRole("region", { name: "Limits" });
  await limits.getByRole("button", { name: "Save" }).waitFor();
  expect(await limits.getByRole("button", { name: "Save" }).getAttribute("aria-disabled")).toBe("true");
  await page.context().close();
});

it("says why sites further down could not be read, where they would be, and reads them again", async () => {
  const { company, pool } = pages.current.server;
  await addManySites(pool, { companyId: company.company_id, count: 220, displayName: "Readable" });
  const list = /site-overviews\?.*offset=100/;
  const page = await pages.current.open(await personOf(), "/account");
  await page.route(list, (route) => route.fulfill({ status: 500, json: { message: "The list is broken." } }));
  await page.goto(`${pages.current.origin}/sites?search=readable`);
  await page.getByText("Readable", { exact: false }).first().waitFor();
  await page.mouse.move(600, 500);
  await page.evaluate("window.scrollTo(0, 130 * 76)");
  await page.getByText("The list is broken.").first().waitFor();
  await page.unroute(list);
  await page.getByRole("button", { name: "Try again" }).first().click();
  await page
    .getByRole("checkbox", { name: /^Select Readable/ })
    .first()
    .waitFor();
  await page.getByText("The list is broken.").first().waitFor({ state: "detached" });
  await page.context().close();
});
