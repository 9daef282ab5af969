/** The console's charts in Chromium. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { launchBrowser } from "@sitewright/e2e/browser.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { addAnalytics } from "../store/traffic/analytics.ts";
import { builtConsole } from "./testing/console.ts";
import { chosen, peopleOf } from "./testing/people.ts";
import { startTestServer, type TestServer } from "./testing/server.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const hour = 3_600_000;
let server: TestServer & AsyncDisposable;
let browser: Browser;
let origin: string;

beforeAll(async () => {
  server = await startTestServer({ console: await builtConsole() });
  origin = `http://127.0.0.1:${await server.listen()}`;
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await server?.[Symbol.asyncDispose]();
});

/** What axe objects to, with the elements. */
function problemsOf(page: Page): Promise<unknown> {
  const script =
    "axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))";
  return page.evaluate(`${axe}; ${script}`);
}

/** A site with requests in some of the last hours. Returns its id. */
async function siteWithAnalytics(): Promise<string> {
  const { siteId, liveId } = await server.addSiteWithEnvironment();
  await server.database
    .updateTable("environments")
    .set({ created_at: new Date(Date.now() - 40 * 24 * hour), disk_bytes: 52_000_000, disk_measured_at: new Date() })
    .where("id", "=", liveId)
    .execute();
  const thisHour = Math.floor(Date.now() / hour) * hour;
  const minutes = Array.from({ length: 20 }, (_, index) => {
    const requests = 100 + 10 * index;
    const counts = {
      requests,
      visits: 7,
      bytes: 2_000_000,
      hits: 60,
      misses: 5,
      "status:200": requests,
      "cached:20": 60,
      "php:48": 5,
    };
    return { run: randomUUID(), begins: thisHour - (index + 1) * hour, environments: { [liveId]: counts } };
  });
  await addAnalytics(
    server.database,
    minutes.filter((_, index) => index < 5 || index > 8),
  );
  return siteId;
}

it("shows what was counted as charts and tables, with its gaps, for the period in the address", async () => {
  const email = await peopleOf({ current: server }).add({ role: "viewer" });
  const siteId = await siteWithAnalytics();
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${origin}/sites/${siteId}?tab=analytics`);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(chosen);
  await page.getByRole("button", { name: "Sign in" }).click();
  const visits = page.getByRole("region", { name: "Visits", exact: true });
  await visits.getByText("112", { exact: true }).waitFor();
  await visits.getByRole("img", { name: "Visits, as a chart" }).waitFor();
  await page.getByText("Grey: not measured").waitFor();
  for (const [colorScheme, width] of [
    ["light", 390],
    ["dark", 390],
    ["light", 1440],
    ["dark", 1440],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    expect([colorScheme, width, await problemsOf(page)]).toEqual([colorScheme, width, []]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
  }
  await visits.getByRole("button", { name: "Show as a table: Visits" }).click();
  await visits.getByRole("cell", { name: "not measured" }).first().waitFor();
  expect(await visits.getByRole("cell", { name: "7", exact: true }).count()).toBe(16);
  expect(await problemsOf(page)).toEqual([]);
  await page.getByText("30 days", { exact: true }).click();
  await page.waitForURL(/range=30d/);
  await page.reload();
  await visits.getByRole("img", { name: "Visits, as a chart" }).waitFor();
  expect(await page.getByRole("radio", { name: "30 days" }).isChecked()).toBe(true);
  await page.goto(origin);
  await page
    .getByRole("region", { name: "The last seven days" })
    .getByRole("img", { name: /^Visits by day/ })
    .waitFor();
  expect(await problemsOf(page)).toEqual([]);
  await context.close();
});
