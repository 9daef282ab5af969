/** Labels, the list of sites, actions on many sites and the command palette, in Chromium. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { endOperation } from "../../store/operations.ts";
import { problemsInBothSchemes, useConsolePages } from "../testing/consolePages.ts";
import { peopleOf } from "../testing/people.ts";

const pages = useConsolePages();
const sizes = [
  { width: 390, height: 844 },
  { width: 1440, height: 900 },
] as const;

const personOf = (role: "owner" | "developer" = "owner", isOperator = false) =>
  peopleOf({ current: pages.current.server }).add({ role, isOperator });

const choose = async (page: Page, action: string) => {
  await page.getByRole("button", { name: "Actions", exact: true }).click();
  await page.getByRole("menuitem", { name: action }).click();
};

/** The operations of the sites, once there is one for each. */
async function operationsOf(kind: string, siteIds: readonly string[]): Promise<readonly string[]> {
  const { database } = pages.current.server;
  const find = () =>
    database
      .selectFrom("operations")
      .select(["id", "site_id"])
      .where("kind", "=", kind)
      .where("finished_at", "is", null)
      .where("site_id", "in", siteIds)
      .execute();
  await expect.poll(async () => (await find()).length, { timeout: 30_000 }).toBe(siteIds.length);
  const found = await find();
  return siteIds.map((siteId) => found.find(({ site_id }) => site_id === siteId)?.id ?? "");
}

const succeed = (operationId: string) =>
  pages.current.server.database
    .transaction()
    .execute((transaction) => endOperation(transaction, operationId, { state: "succeeded", result: null }));

it("creates a label, adds it to several sites at once, and filters by it", async () => {
  const { server, open } = pages.current;
  await server.addSite({ display_name: "Label one" });
  await server.addSite({ display_name: "Label two" });
  await server.addSite({ display_name: "Label three" });
  const page = await open(await personOf(), "/labels");
  await page.getByLabel("Name of the label").fill("Client A");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByText("0 sites").waitFor();
  await page.getByRole("link", { name: "Sites", exact: true }).click();
  await page.getByLabel("Search by name").fill("label");
  await page.waitForURL(/search=label$/);
  await page.getByText("3 sites", { exact: true }).waitFor();
  await page.getByLabel("Select Label one").check();
  await page.getByLabel("Select Label two").check();
  await choose(page, "Add a label");
  await page.getByRole("combobox", { name: "Label" }).click();
  await page.getByRole("option", { name: "Client A" }).click();
  await page.getByRole("button", { name: "Start for 2 sites" }).click();
  await page.getByText("2 succeeded, 0 failed").waitFor();
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByRole("combobox", { name: "Label" }).click();
  await page.getByRole("option", { name: "Client A" }).click();
  await page.getByText("2 sites", { exact: true }).waitFor();
  expect(page.url()).toMatch(/search=label&label=[0-9a-f-]{36}$/);
  await page.reload();
  await page.getByText("2 sites", { exact: true }).waitFor();
  await page.context().close();
});

it("carries out an action on all sites that match, says which failed and why, and tries these again", async () => {
  const { server, open } = pages.current;
  const first = await server.addSite({ display_name: "Bulk first" });
  const second = await server.addSite({ display_name: "Bulk second" });
  const page = await open(await personOf("developer"), "/sites?search=bulk");
  await page.getByRole("button", { name: "Select all 2 that match" }).click();
  await page.getByText("Selected: 2 sites").waitFor();
  await choose(page, "Restart PHP");
  await page.getByRole("button", { name: "Start for 2 sites" }).click();
  const [one, other] = await operationsOf("restartPhp", [first, second]);
  await succeed(one ?? "");
  await server.fail(other ?? "", "PHP did not stop.");
  await page.getByText("1 succeeded, 1 failed").waitFor();
  await page.getByRole("button", { name: "Show what failed" }).click();
  await page.getByText("PHP did not stop.").waitFor();
  await page.getByRole("button", { name: "Try the failed one again" }).click();
  const [again] = await operationsOf("restartPhp", [second]);
  expect(again).not.toBe(other);
  await succeed(again ?? "");
  await page.getByText("2 succeeded, 0 failed").waitFor();
  await page.context().close();
});

it("deletes sites only once their number is typed, and not for a developer", async () => {
  const { server, open } = pages.current;
  const ids = [
    await server.addSite({ display_name: "Doomed first" }),
    await server.addSite({ display_name: "Doomed second" }),
  ];
  const page = await open(await personOf(), "/sites?search=doomed");
  await page.getByRole("button", { name: "Select all 2 that match" }).click();
  await choose(page, "Delete");
  const button = page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true });
  expect(await button.getAttribute("aria-disabled")).toBe("true");
  await page.getByLabel("Type 2 to confirm").fill("2");
  await button.click();
  await operationsOf("deleteSite", ids);
  await page.context().close();
  const developer = await open(await personOf("developer"), "/sites?search=doomed");
  await developer.getByRole("button", { name: "Select all 2 that match" }).click();
  await developer.getByRole("button", { name: "Actions", exact: true }).click();
  const item = developer.getByRole("menuitem", { name: "Delete" });
  expect(await item.getAttribute("aria-disabled")).toBe("true");
  await developer.context().close();
});

it("finds pages, sites and the page's actions with the keyboard", async () => {
  const { server, open } = pages.current;
  const siteId = await server.addSite({ display_name: "Palette target" });
  const page = await open(await personOf(), "/sites");
  await page.getByRole("heading", { level: 1, name: "Sites" }).waitFor();
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Search pages, sites and actions" });
  await field.fill("peop");
  await page.getByRole("option", { name: "People" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "People" }).waitFor();
  await page.getByRole("button", { name: "Invite somebody" }).waitFor();
  await page.keyboard.press("Control+k");
  await field.fill("invite some");
  await page.getByRole("option", { name: "Invite somebody" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Invite somebody" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Invite somebody" }).waitFor({ state: "detached" });
  await page.keyboard.press("Control+k");
  await field.fill("palette tar");
  await page.getByRole("option", { name: "Palette target" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(new RegExp(`/sites/${siteId}`));
  await page.context().close();
});

it("finds no sites of an earlier search while a new one runs, and says why it failed", async () => {
  const { server, open } = pages.current;
  await server.addSite({ display_name: "Searched earlier" });
  const page = await open(await personOf(), "/account");
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Search pages, sites and actions" });
  await field.fill("searched");
  const earlier = page.getByRole("option", { name: "Searched earlier" });
  await earlier.waitFor();
  const search = /\/v2\/sites\?.*search=searched(%20|\+)e/;
  let fail: (() => Promise<void>) | undefined;
  await page.route(search, (route) => {
    fail = () => route.fulfill({ status: 500, json: { message: "The search is broken." } });
  });
  await field.fill("searched e");
  await page.getByText("Searching the sites").first().waitFor();
  expect(await earlier.count()).toBe(0);
  await expect.poll(() => fail).toBeDefined();
  await fail?.();
  await page.getByText("The search is broken.").waitFor();
  expect(await earlier.count()).toBe(0);
  await page.unroute(search);
  await page.getByRole("dialog").getByRole("button", { name: "Try again" }).click();
  await earlier.waitFor();
  await page.context().close();
});

it.each(sizes)("has nothing that axe objects to at $width pixels, also in dialogs", async (viewport) => {
  const { server, open } = pages.current;
  const siteId = await server.addSite({ display_name: `Wide ${viewport.width}` });
  const page = await open(await personOf("owner", true), "/labels", { viewport });
  const found: unknown[] = [];
  const examine = async (name: string) => {
    await page.getByRole("status", { name: "Loading" }).waitFor({ state: "detached" });
    found.push([name, await problemsInBothSchemes(page), await page.evaluate("document.documentElement.scrollWidth")]);
  };
  await page.getByLabel("Name of the label").fill(`Axe ${viewport.width}`);
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("button", { name: `Rename Axe ${viewport.width}` }).click();
  await page.getByRole("dialog").waitFor();
  await examine("rename");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await examine("labels");
  await page.goto(new URL("/installation", page.url()).href);
  await page.getByText("API and operations").waitFor();
  await examine("installation");
  await page.goto(new URL(`/sites?search=wide&state=ready`, page.url()).href);
  await page.getByLabel(`Select Wide ${viewport.width}`).check();
  await examine("sites");
  await choose(page, "Set automatic updates");
  await page.getByRole("dialog").waitFor();
  await examine("action");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await choose(page, "Clear the cache");
  await page.getByRole("button", { name: "Start for one site" }).click();
  await server.fail((await operationsOf("clearCache", [siteId]))[0] ?? "", "It failed.");
  await page.getByRole("button", { name: "Show what failed" }).click();
  await examine("results");
  await page.keyboard.press("Control+k");
  await page.getByRole("option").first().waitFor();
  await examine("palette");
  expect(found).toEqual(found.map((row) => [Object(row)[0], [], viewport.width]));
  await page.context().close();
});
