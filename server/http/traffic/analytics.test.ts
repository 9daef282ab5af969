import { randomUUID } from "node:crypto";
import { addAnalytics, type Counts } from "@sitewright/server/store/traffic/analytics.ts";
import { describe, expect, it } from "vitest";
import { useTestServer } from "../testing/server.ts";

const test = useTestServer();

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const today = Math.floor(Date.now() / day) * day;
/** The beginning of the present hour. */
const thisHour = Math.floor(Date.now() / hour) * hour;

const count = (begins: number, environments: Readonly<Record<string, Counts>>) =>
  addAnalytics(test.current.database, [{ run: randomUUID(), begins, environments }]);

/** Adds an environment that has existed for three months. */
async function oldEnvironment() {
  const { siteId, id, liveId } = await test.current.addSiteWithEnvironment();
  await test.current.database
    .updateTable("environments")
    .set({ created_at: new Date(Date.now() - 90 * day) })
    .where("id", "in", [id, liveId])
    .execute();
  return { siteId, id, liveId };
}

const get = (path: string, key?: string) => test.current.call("GET", path, key === undefined ? {} : { key });
const analytics = async (id: string, query: string) =>
  (await get(`/v2/sites/environments/${id}/analytics?${query}`)).body.analytics;

describe("GET …/analytics", () => {
  it("has the figures of each step, and of all", async () => {
    const { id } = await oldEnvironment();
    const counts = {
      ...{ requests: 10, bots: 1, visits: 2, bytes: 5_000, hits: 4, misses: 2, bypasses: 1, phpMs: 1_500, cpuMs: 700 },
      ...{ "status:200": 6, "status:301": 1, "status:404": 2, "status:502": 1, "cached:20": 4, "php:45": 3 },
    };
    await count(thisHour - 3 * hour, { [id]: counts });
    await count(thisHour - 2 * hour, {});
    const got = await analytics(id, `from=${thisHour - 4 * hour}&to=${thisHour - hour}&step=hour`);
    expect(got).toMatchObject({ from: thisHour - 4 * hour, to: thisHour - hour, step: "hour" });
    const figures = {
      visits: 2,
      requests: 10,
      bot_requests: 1,
      bytes_sent: 5_000,
      cache: { hits: 4, misses: 2, bypasses: 1, others: 3 },
      codes: { "2xx": 6, "3xx": 1, "4xx": 2, "5xx": 1 },
      errors: [
        { status: 404, requests: 2 },
        { status: 502, requests: 1 },
      ],
      response_times: { cached: { p50: 1.83, p95: 1.83 }, php: { p50: 140, p95: 140 } },
      php_seconds: 1.5,
      cpu_seconds: 0.7,
    };
    expect(got.total).toEqual(figures);
    // Nobody knows, counted, nothing to count.
    expect(got.steps.map((step: { figures: { requests: number } | null }) => step.figures?.requests ?? null)).toEqual([
      null,
      10,
      0,
    ]);
    expect(got.steps[1]).toEqual({ begins_at: thisHour - 3 * hour, figures, disk_bytes: null });
  });

  it("has no figures from before the environment existed", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await count(thisHour - 5 * hour, {});
    const [step] = (await analytics(id, `from=${thisHour - 5 * hour}&to=${thisHour - 4 * hour}&step=hour`)).steps;
    expect(step).toEqual({ begins_at: thisHour - 5 * hour, figures: null, disk_bytes: null });
  });

  it("has the last known disk use of each step", async () => {
    const { id } = await oldEnvironment();
    for (const [hours, disk_bytes] of [
      [30, 100],
      [3, 200],
    ] as const) {
      const measured = { disk_bytes, disk_measured_at: new Date(thisHour - hours * hour + minute) };
      await test.current.database.updateTable("environments").set(measured).where("id", "=", id).execute();
    }
    const { steps } = await analytics(id, `from=${thisHour - 5 * hour}&to=${thisHour - hour}&step=hour`);
    expect(steps.map((step: { disk_bytes: number }) => step.disk_bytes)).toEqual([100, 100, 200, 200]);
  });

  it.each([
    ["", "minute", 1_441],
    ["step=hour", "hour", 25],
    [`from=${Date.now() - 30 * day}`, "hour", 721],
    [`from=${Date.now() - 30 * day}&step=minute`, "hour", 721],
    [`from=${Date.now() - 30 * day}&step=day`, "day", 31],
    [`from=${Date.now() - 70 * day}`, "day", 71],
    ["from=0", "day", 732],
  ])("chooses steps that are kept and not too many for %j", async (query, step, length) => {
    const { id } = await oldEnvironment();
    const got = await analytics(id, query);
    expect(got.step).toBe(step);
    expect(Math.abs(got.steps.length - length)).toBeLessThanOrEqual(1);
  });

  it("divides days by the time zone", async () => {
    const { id } = await oldEnvironment();
    const midnight = today - 2 * day;
    // Addressed to the store, because minutes that are that old are not accepted from the edge.
    const rows = [midnight - 3 * hour, midnight - hour, midnight + hour].map((at) => ({
      environment_id: id,
      hour: new Date(at),
      counts: JSON.stringify({ requests: 1 }),
    }));
    await test.current.database.insertInto("analytics_hours").values(rows).execute();
    const measured = rows.map((row) => ({ step: "hour" as const, begins: row.hour }));
    await test.current.database
      .insertInto("analytics_measured")
      .values(measured)
      .onConflict((on) => on.doNothing())
      .execute();
    const { steps } = await analytics(
      id,
      `from=${midnight - 6 * hour}&to=${midnight + 6 * hour}&step=day&time_zone=02:00`,
    );
    const found = steps.map((step: { begins_at: number; figures: { requests: number } }) => [
      step.begins_at,
      step.figures.requests,
    ]);
    expect(found).toEqual([
      [midnight - 26 * hour, 1],
      [midnight - 2 * hour, 2],
    ]);
  });

  it.each(["from=5&to=4", `from=${Date.now() + day}`])("refuses %s", async (query) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const got = await get(`/v2/sites/environments/${id}/analytics?${query}`);
    expect([got.status, got.body.data.code]).toEqual([400, "period_backwards"]);
  });

  it.each(["from=x", "to=-1", "step=week", "time_zone=2", "time_zone=02:30", "time_zone=15:00"])(
    "does not accept %s",
    async (query) => {
      const { id } = await test.current.addSiteWithEnvironment();
      const got = await get(`/v2/sites/environments/${id}/analytics?${query}`);
      expect([got.status, got.body.data.errors[0].path]).toEqual([400, `/${query.split("=")[0]}`]);
    },
  );
});

describe("analytics in the form of existing clients", () => {
  const client = async (id: string, what: string, query = "") => {
    const company = `company_id=${test.current.company.company_id}`;
    return get(`/v2/sites/environments/${id}/analytics/${what}?${company}&${query}`);
  };

  it.each([
    ["visits", "3"],
    ["bandwidth", "7000"],
  ])("have the %s of each day as text, with the sum", async (what, value) => {
    const { id } = await oldEnvironment();
    await count(Math.max(today, thisHour - hour), { [id]: { requests: 9, visits: 3, bytes: 7_000 } });
    const got = await client(id, what);
    expect(got.status).toBe(202);
    const dataset = [{ key: new Date(today).toISOString(), value }];
    const { key, data } = got.body.analytics.analytics_response;
    expect([key, data.length, data[0].name, data[0].total]).toEqual([what, 1, what, Number(value)]);
    expect(data[0].dataset.slice(-1)).toEqual(dataset);
  });

  it("have the hours of a single day", async () => {
    const { id } = await oldEnvironment();
    await count(thisHour - 6 * hour, { [id]: { visits: 1 } });
    await count(thisHour - 7 * hour, {});
    const [data] = (await client(id, "visits", "time_span=24_hours")).body.analytics.analytics_response.data;
    expect(data.total).toBe(1);
    for (const [hours, value] of [
      [6, "1"],
      [7, "0"],
    ] as const) {
      expect(data.dataset).toContainEqual({ key: new Date(thisHour - hours * hour).toISOString(), value });
    }
  });

  it("leave out the days on which nobody counted", async () => {
    const { id } = await oldEnvironment();
    const [from, to] = [50, 45].map((days) => new Date(today - days * day).toISOString().slice(0, 10));
    const got = (await client(id, "visits", `from=${from}&to=${to}`)).body.analytics.analytics_response;
    expect(got).toEqual({ key: "visits", data: [{ name: "visits", total: 0, dataset: [] }] });
  });

  it("have the disk space at the end of each day of the time zone", async () => {
    const { id } = await oldEnvironment();
    const measured = { disk_bytes: 500, disk_measured_at: new Date(today - 2 * day - hour) };
    await test.current.database.updateTable("environments").set(measured).where("id", "=", id).execute();
    const [from, to] = [3, 1].map((days) => new Date(today - days * day).toISOString().slice(0, 10));
    const query = (zone: string) => `time_zone=${zone}&from=${from}&to=${to}`;
    const days = async (zone: string) => {
      const [data] = (await client(id, "diskspace", query(zone))).body.analytics.analytics_response.data;
      return [data.total, data.dataset.map(({ key }: { key: string }) => key)];
    };
    const at = (days: number, hours: number) => new Date(today - days * day - hours * hour).toISOString();
    expect(await days("00:00")).toEqual([500, [at(3, 0), at(2, 0), at(1, 0)]]);
    expect(await days("02:00")).toEqual([500, [at(2, 2), at(1, 2)]]);
  });

  it.each([
    ["visits", "time_span=1_year", "/time_span"],
    ["bandwidth", "from=yesterday", "/from"],
    ["bandwidth", "from=2026-13-01", "/from"],
    ["diskspace", "time_span=24_hours&time_zone=02:00", "/time_span"],
    ["diskspace", "", "/time_zone"],
  ])("do not accept %s?%s", async (what, query, path) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const got = await client(id, what, query);
    expect([got.status, got.body.data.errors[0].path]).toEqual([400, path]);
  });

  it("are not found with another company's id", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const got = await get(`/v2/sites/environments/${id}/analytics/visits?company_id=${randomUUID()}`);
    expect(got.status).toBe(404);
  });
});

it("this month's usage is the sum of a site's environments", async () => {
  const { siteId, id, liveId } = await oldEnvironment();
  await count(Math.max(today, thisHour - hour), { [id]: { visits: 1, bytes: 10 }, [liveId]: { visits: 2, bytes: 20 } });
  expect((await get(`/v2/sites/${siteId}/usage/visits/this-month`)).body).toEqual({
    site: { id: siteId, this_month_usage: { visits: 3 } },
  });
  expect((await get(`/v2/sites/${siteId}/usage/bandwidth/this-month`)).body).toEqual({
    site: { id: siteId, this_month_usage: { bandwidth: 30 } },
  });
});

it("a company's days are the sums of the environments that the key may see", async () => {
  const [one, other] = [await oldEnvironment(), await oldEnvironment()];
  const path = `/v2/company/${test.current.company.company_id}/analytics`;
  const last = async (key?: string) => (await get(path, key)).body.company.analytics.at(-1);
  const before = (await last())?.requests ?? 0;
  const at = Math.max(today, thisHour - hour);
  await count(at, { [one.id]: { requests: 5, visits: 1, bytes: 10 }, [other.liveId]: { requests: 2 } });
  expect((await last()).requests).toBe(before + 7);
  const { token } = await test.current.addKey({ scopes: [`site:${one.siteId}`] });
  expect(await last(token)).toEqual({ begins_at: today, requests: 5, visits: 1, bytes_sent: 10 });
});
