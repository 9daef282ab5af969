/** What the console shows about operations and updates, in Chromium. */
import { endOperation } from "@sitewright/server/store/operations.ts";
import {
  activateReading,
  addAdvisoryRanges,
  advisoryFeed,
  markVulnerable,
} from "@sitewright/server/store/packages/advisories.ts";
import { addEndedOperation } from "@sitewright/server/store/testing/rows.ts";
import { putPackages } from "@sitewright/server/testing/packages.ts";
import { expect, it } from "vitest";
import { useConsolePages } from "./testing/consolePages.ts";
import { peopleOf } from "./testing/people.ts";

const pages = useConsolePages();

const ownerOf = () => peopleOf({ current: pages.current.server }).add({ role: "owner" });

const pathOf = (operationId: string) => `/operations/${encodeURIComponent(operationId)}`;

it("leads from an operation to its site only while the site exists", async () => {
  const { server } = pages.current;
  const { siteId, liveId } = await server.addSiteWithEnvironment();
  const restart = await server.call("POST", "/v2/sites/tools/restart-php", { body: { environment_id: liveId } });
  const operationId: string = restart.body.operation_id;
  await server.database
    .transaction()
    .execute((transaction) => endOperation(transaction, operationId, { state: "succeeded", result: null }));
  const page = await pages.current.open(await ownerOf(), pathOf(operationId));
  await page.getByRole("link", { name: "Manage the site" }).waitFor();
  await server.deleteSite(siteId);
  await page.getByText("The site has been deleted.").waitFor();
  expect(await page.getByRole("link", { name: "Manage the site" }).count()).toBe(0);
  await page.getByRole("main").getByRole("link", { name: "Deleted sites" }).click();
  await page.getByRole("heading", { level: 1, name: "Deleted sites" }).waitFor();
  await page.context().close();
});

it("lists the updates of an environment behind more than a hundred other operations, and the older ones on request", async () => {
  const { database, company, addSiteWithEnvironment } = pages.current.server;
  const { siteId, liveId } = await addSiteWithEnvironment();
  const add = async (kind: string, count: number) => {
    for (let index = 0; index < count; index += 1) {
      await addEndedOperation(database, { companyId: company.company_id, environmentId: liveId, kind });
    }
  };
  await add("updateThemes", 1);
  await add("updatePlugins", 22);
  await add("runWpCli", 101);
  const page = await pages.current.open(await ownerOf(), `/sites/${siteId}?tab=updates`);
  const history = page.getByRole("region", { name: "Latest updates" });
  await history.getByRole("cell", { name: "Updating plugins" }).first().waitFor();
  expect(await history.getByRole("link", { name: "Show the update of" }).count()).toBe(20);
  await history.getByRole("button", { name: "Show older updates" }).click();
  await history.getByRole("cell", { name: "Updating themes" }).waitFor();
  expect(await history.getByRole("link", { name: "Show the update of" }).count()).toBe(23);
  expect(await history.getByRole("button", { name: "Show older updates" }).count()).toBe(0);
  await page.context().close();
});

it("says why screenshots and the list of operations could not be read, and reads them again", async () => {
  const { server } = pages.current;
  const { liveId } = await server.addSiteWithEnvironment();
  const broken = { status: 500, json: { message: "This answer is broken." } };
  await server.database
    .updateTable("environments")
    .set({ wordpress_version: "7.1" })
    .where("id", "=", liveId)
    .execute();
  const path = `/v2/sites/environments/${liveId}/wordpress`;
  const update = await server.call("PUT", path, { body: { update_version: "99.0" } });
  await server.fail(update.body.operation_id, "The front page looks different.");
  let readings = 0;
  const page = await pages.current.open(await ownerOf(), pathOf(update.body.operation_id), {
    prepare: async (opened) => {
      await opened.route(/\/pictures$/, (route) => {
        readings += 1;
        return route.fulfill(broken);
      });
      await opened.route(/\/v2\/operations\?limit=20/, (route) => route.fulfill(broken));
    },
  });
  await page.getByRole("main").getByText("This answer is broken.").waitFor();
  // The stream of events begins with the request to read everything again, after which nothing is read without the button.
  await expect.poll(() => readings, { timeout: 30_000 }).toBeGreaterThan(1);
  await page.getByRole("button", { name: "Operations" }).click();
  const panel = page.getByRole("dialog");
  await panel.getByText("This answer is broken.").waitFor();
  await page.unrouteAll();
  await panel.getByRole("button", { name: "Try again" }).click();
  await panel.getByRole("listitem").first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("main").getByRole("button", { name: "Try again" }).click();
  await page.getByText("This answer is broken.").waitFor({ state: "detached" });
  await page.context().close();
});

it("leads from a vulnerability to the updates of the environment that has it", async () => {
  const { database, addSiteWithEnvironment } = pages.current.server;
  const { siteId, id: environmentId } = await addSiteWithEnvironment();
  await putPackages(database, environmentId, [{ name: "shop" }]);
  const reading = (await advisoryFeed(database)).reading + 1;
  const range = { from_key: null, is_from_included: true, to_key: null, is_to_included: true, affected: "any – any" };
  const known = { patched: "2.0", title: "Anyone can read orders", cve: "CVE-1", reference: null, score: 9 };
  await addAdvisoryRanges(database, reading, [{ advisory_id: "a", kind: "plugin", slug: "shop", ...range, ...known }]);
  await activateReading(database, { reading, mark: null, records: 1, skipped: 0 });
  await markVulnerable(database, null);
  const page = await pages.current.open(await ownerOf(), "/");
  await page.getByText("Anyone can read orders").waitFor();
  await page.getByRole("link", { name: /^Open site: / }).click();
  await page.waitForURL(new RegExp(`/sites/${siteId}\\?environment=${environmentId}&tab=updates`));
  await page.getByRole("tab", { name: "Plugins, themes, updates", selected: true }).waitFor();
  await page.context().close();
});
