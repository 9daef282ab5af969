/** The console in Chromium, while others change what it shows. */
import { sql } from "kysely";
import type { Page, Route } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { goTo, signIn, useConsolePages } from "./testing/consolePages.ts";
import { peopleOf } from "./testing/people.ts";

const pages = useConsolePages();

const isStream = (request: { url(): string }): boolean => /\/events(\?|$)/.test(request.url());

/** Signs in, and waits until the page follows events, or has been refused. `prepare` runs before. */
async function openPage(path: string, prepare: (page: Page) => Promise<unknown> = async () => undefined) {
  const email = await peopleOf({ current: pages.current.server }).add({ role: "owner" });
  const page = await pages.current.openPage(path, { prepare });
  onTestFinished(() => page.context().close());
  const answered = page.waitForResponse(isStream);
  await signIn(page, email);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await answered;
  return { page, email };
}

/** Starts an operation on a new site. */
async function startOperation(): Promise<string> {
  const { liveId } = await pages.current.server.addSiteWithEnvironment();
  const body = { environment_id: liveId };
  return (await pages.current.server.call("POST", "/v2/sites/tools/restart-php", { body })).body.operation_id;
}

it("shows a site that was created with the API, without loading the page again", async () => {
  const { page } = await openPage("/sites");
  await page.evaluate("window.isSamePage = true");
  await pages.current.server.addSite({ display_name: "Created elsewhere" });
  await page.getByText("Created elsewhere").first().waitFor();
  expect(await page.evaluate("window.isSamePage")).toBe(true);
});

it("shows the steps, the duration and the result of operations that others have started", async () => {
  const { page } = await openPage("/account");
  await page.getByRole("button", { name: "Operations" }).click();
  const panel = page.getByRole("dialog");
  const operationId = await startOperation();
  const row = panel.getByRole("listitem").filter({ hasText: "Restarting PHP" });
  await row.getByText("Running").waitFor();
  // The event has all of it: no list is answered any more.
  await page.route(/\/v2\/operations\?/, () => undefined);
  await sql`update operations set steps_total = 3, steps_done = 1, step = 'probe', started_at = now()
    where id = ${operationId}`.execute(pages.current.server.database);
  await row.getByText("probe").waitFor();
  await page.unrouteAll();
  await pages.current.server.fail(operationId, "PHP did not restart.");
  await row.getByText("PHP did not restart.").waitFor();
  await row.getByText("Failed").waitFor();
});

it("shows the end of an operation that ended before the first answer about it arrived", async () => {
  const { page } = await openPage("/account");
  const operationId = await startOperation();
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const path = new RegExp(`/v2/operations/${encodeURIComponent(operationId)}$`);
  const hold = async (route: Route) => {
    const response = await route.fetch();
    asked.resolve();
    await release.promise;
    await route.fulfill({ response });
  };
  await page.route(path, hold, { times: 1 });
  await goTo(page, `/operations/${encodeURIComponent(operationId)}`);
  await asked.promise;
  // Read because of the event, at the same time as everything else that it has changed.
  const isList = (request: { url(): string }) => /\/operations\?/.test(request.url());
  const read = page.waitForResponse(isList);
  await pages.current.server.fail(operationId, "PHP did not restart.");
  await read;
  release.resolve();
  await page.getByRole("alert").getByText("PHP did not restart.").waitFor();
});

it("asks for the password as soon as the session has ended", async () => {
  const { page, email } = await openPage("/sites");
  const ended = sql`delete from api_keys k using users u where u.id = k.user_id and u.email = ${email}`;
  await ended.execute(pages.current.server.database);
  await page.getByRole("dialog").getByText("session has ended").waitFor();
});

it("looks for changes by itself if it gets no events", async () => {
  const { page } = await openPage("/account", (opened) =>
    opened.route(/\/events(\?|$)/, (route) => route.fulfill({ status: 429, body: "" })),
  );
  await page.getByRole("button", { name: "Operations" }).click();
  const operationId = await startOperation();
  const row = page.getByRole("dialog").getByRole("listitem").filter({ hasText: "Restarting PHP" }).first();
  await row.getByText("Running").waitFor();
  await pages.current.server.fail(operationId, "PHP did not restart.");
  await row.getByText("PHP did not restart.").waitFor();
});

it("has no stream while it is in the background, and then continues", async () => {
  const { page } = await openPage("/sites");
  const show = (state: string) =>
    page.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"))`);
  const ended = page.waitForEvent("requestfailed", isStream);
  await show("hidden");
  await ended;
  await pages.current.server.addSite({ display_name: "Created meanwhile" });
  await show("visible");
  await page.getByText("Created meanwhile").first().waitFor();
});
