/** The console's charts in Chromium. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { addAnalytics } from "../store/traffic/analytics.ts";
import { problemsOf, useConsolePages } from "./testing/consolePages.ts";
import { peopleOf } from "./testing/people.ts";

const hour = 3_600_000;
const pages = useConsolePages();

/** A site with requests in some of the last hours. Returns its id. */
async function siteWithAnalytics(): Promise<string> {
  const { addSiteWithEnvironment, database } = pages.current.server;
  const { siteId, liveId } = await addSiteWithEnvironment();
  await database
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
    database,
    minutes.filter((_, index) => index < 5 || index > 8),
  );
  return siteId;
}

const viewerOf = () => peopleOf({ current: pages.current.server }).add({ role: "viewer" });

it("shows what was counted as charts and tables, with its gaps, for the period in the address", async () => {
  const viewport = { width: 390, height: 844 };
  const siteId = await siteWithAnalytics();
  const page = await pages.current.open(await viewerOf(), `/sites/${siteId}?tab=analytics`, { viewport });
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
  await page.goto(pages.current.origin);
  await page
    .getByRole("region", { name: "The last seven days" })
    .getByRole("img", { name: /^Visits by day/ })
    .waitFor();
  expect(await problemsOf(page)).toEqual([]);
  await page.context().close();
});

it.each(["Asia/Kolkata", "Europe/Berlin", "America/St_Johns", "Pacific/Auckland"])(
  "names the hours and days of a reader in %s as their own clock and calendar do",
  async (timezoneId) => {
    const siteId = await siteWithAnalytics();
    const options = { timezoneId, locale: "en-GB" };
    const page = await pages.current.open(await viewerOf(), `/sites/${siteId}?tab=analytics`, options);
    const visits = page.getByRole("region", { name: "Visits", exact: true });
    await visits.getByRole("button", { name: "Show as a table: Visits" }).click();
    const lastRow = visits.getByRole("row").last();
    const time = new Intl.DateTimeFormat("en-GB", { timeZone: timezoneId, hour: "numeric", minute: "2-digit" });
    // The last hour is not shown before its first minute has been counted.
    const [now, before] = [Date.now() - 90_000, Date.now() - 2 * 90_000].map((end) => time.format(end - (end % hour)));
    await lastRow
      .getByText(now ?? "")
      .or(lastRow.getByText(before ?? ""))
      .waitFor();
    const answered = page.waitForResponse(/\/analytics\?.*step=day/);
    await page.getByText("30 days", { exact: true }).click();
    const { analytics } = await (await answered).json();
    // A day begins within an hour of the reader's midnight.
    const morning: number = analytics.steps.at(-1).begins_at + 4 * hour;
    const day = new Intl.DateTimeFormat("en-GB", { timeZone: timezoneId, month: "short", day: "numeric" });
    await lastRow.getByText(day.format(morning), { exact: true }).waitFor();
    const names = await visits.getByRole("row").locator("td:first-child").allTextContents();
    expect(names).toHaveLength(analytics.steps.length);
    expect(new Set(names).size).toBe(names.length);
    await page.context().close();
  },
);
