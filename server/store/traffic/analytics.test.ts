import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { addCompany, addSite } from "../testing/rows.ts";
import {
  addAnalytics,
  type Counts,
  deleteAnalytics,
  readAnalytics,
  readCompanyTotals,
  readSiteTotals,
} from "./analytics.ts";

const world = useTestDatabase();

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** The beginning of an hour that is over, of which all minutes are on one day. */
const began = Math.floor(Date.now() / hour) * hour - hour;

async function environment() {
  const { companyId } = await addCompany(world.database);
  const { id: siteId, environmentId } = await addSite(world.database, companyId);
  return { companyId, siteId, environmentId };
}

const minuteOf = (run: string, begins: number, environments: Readonly<Record<string, Counts>>) => ({
  run,
  begins,
  environments,
});

async function countsOf(environmentId: string, step: "minute" | "hour" | "day") {
  const period = { from: new Date(0), to: new Date(Date.now() + day) };
  const found = await readAnalytics(world.pool, { environmentId, step, ...period });
  return (found?.counted ?? []).map(({ begins, counts }) => [begins.getTime(), counts]);
}

describe("counts reported by the edge", () => {
  test("are stored by the minute, and added to the hour and the day", async () => {
    const [{ environmentId }, run] = [await environment(), randomUUID()];
    await addAnalytics(world.database, [
      minuteOf(run, began, { [environmentId]: { requests: 2, "status:200": 2 } }),
      minuteOf(run, began + minute, { [environmentId]: { requests: 3, "status:404": 3 } }),
    ]);
    await addAnalytics(world.database, [
      minuteOf(run, began + 2 * minute, { [environmentId]: { requests: 1, visits: 1 } }),
    ]);
    const all = { requests: 6, visits: 1, "status:200": 2, "status:404": 3 };
    expect(await countsOf(environmentId, "minute")).toHaveLength(3);
    expect(await countsOf(environmentId, "hour")).toEqual([[began, all]]);
    expect(await countsOf(environmentId, "day")).toEqual([[Math.floor(began / day) * day, all]]);
  });

  test("are counted once, however often and together with whatever they are reported", async () => {
    const [{ environmentId }, run] = [await environment(), randomUUID()];
    const first = minuteOf(run, began, { [environmentId]: { requests: 2 } });
    const second = minuteOf(run, began + minute, { [environmentId]: { requests: 5 } });
    for (const minutes of [[first], [first], [first, second], [second, first]])
      await addAnalytics(world.database, minutes);
    await Promise.all([1, 2, 3].map(() => addAnalytics(world.database, [first, second])));
    expect(await countsOf(environmentId, "hour")).toEqual([[began, { requests: 7 }]]);
  });

  test("of two starts of the edge in a minute are added up", async () => {
    const { environmentId } = await environment();
    for (const requests of [2, 5]) {
      await addAnalytics(world.database, [minuteOf(randomUUID(), began, { [environmentId]: { requests } })]);
    }
    expect(await countsOf(environmentId, "minute")).toHaveLength(2);
    expect(await countsOf(environmentId, "hour")).toEqual([[began, { requests: 7 }]]);
  });

  test("are ignored for environments that are gone, and if they are too old", async () => {
    const [{ environmentId }, run] = [await environment(), randomUUID()];
    await addAnalytics(world.database, [
      minuteOf(run, began - 50 * hour, { [environmentId]: { requests: 1 } }),
      minuteOf(run, began, { [randomUUID()]: { requests: 1 }, [environmentId]: { requests: 1 } }),
    ]);
    expect(await countsOf(environmentId, "hour")).toEqual([[began, { requests: 1 }]]);
  });

  test("say when the edge counted, even if there was nothing to count", async () => {
    const [{ environmentId }, at] = [await environment(), began - 20 * hour];
    await addAnalytics(world.database, [minuteOf(randomUUID(), at + 5 * minute, {})]);
    const period = { environmentId, from: new Date(at), to: new Date(at + hour) };
    const measured = async (step: "minute" | "hour") =>
      (await readAnalytics(world.pool, { ...period, step }))?.measured.map((begins) => begins.getTime());
    expect([await measured("minute"), await measured("hour")]).toEqual([[at + 5 * minute], [at]]);
  });
});

test("sums of a site and of a company have all their environments, and only these", async () => {
  const { companyId, siteId, environmentId } = await environment();
  const { id: otherSite, environmentId: other } = await addSite(world.database, companyId);
  const { environmentId: foreign } = await environment();
  const counts = { requests: 3, visits: 2, bytes: 1_000 };
  await addAnalytics(world.database, [
    minuteOf(randomUUID(), began, { [environmentId]: counts, [other]: { requests: 1 }, [foreign]: counts }),
  ]);
  const period = { from: new Date(Math.floor(began / day) * day), to: new Date() };
  expect(await readSiteTotals(world.pool, siteId, period)).toEqual(counts);
  const company = async (siteIds: readonly string[] | null) =>
    (await readCompanyTotals(world.pool, { companyId, siteIds, ...period })).map(({ requests }) => requests)[0];
  expect([await company(null), await company([otherSite]), await company([])]).toEqual([4, 1, 0]);
});

describe("what is kept", () => {
  test("is two days of minutes, 62 days of hours and two years of days", async () => {
    const { environmentId } = await environment();
    await addAnalytics(world.database, [minuteOf(randomUUID(), began, { [environmentId]: { requests: 1 } })]);
    const kept = async (days: number) => {
      await sql`update analytics_minutes set minute = now() - make_interval(days => ${days}::integer) where environment_id = ${environmentId}`.execute(
        world.database,
      );
      await sql`update analytics_hours set hour = now() - make_interval(days => ${days}::integer) where environment_id = ${environmentId}`.execute(
        world.database,
      );
      await sql`update analytics_days set day = now() - make_interval(days => ${days}::integer) where environment_id = ${environmentId}`.execute(
        world.database,
      );
      await deleteAnalytics(world.database);
      const all = await Promise.all((["minute", "hour", "day"] as const).map((step) => countsOf(environmentId, step)));
      return all.map(({ length }) => length);
    };
    expect(await kept(1)).toEqual([1, 1, 1]);
    expect(await kept(3)).toEqual([0, 1, 1]);
    expect(await kept(61)).toEqual([0, 1, 1]);
    expect(await kept(63)).toEqual([0, 0, 1]);
    expect(await kept(732)).toEqual([0, 0, 0]);
  });

  test("is the last disk use of each hour, later of each day, and always the last one", async () => {
    const { environmentId } = await environment();
    const measure = (at: number, disk_bytes: number) =>
      world.database
        .updateTable("environments")
        .set({ disk_bytes, disk_measured_at: new Date(at) })
        .where("id", "=", environmentId)
        .execute();
    const disk = async () => {
      const rows = world.database
        .selectFrom("analytics_disk")
        .select("disk_bytes")
        .where("environment_id", "=", environmentId);
      return (await rows.orderBy("hour").execute()).map(({ disk_bytes }) => disk_bytes);
    };
    const old = Math.floor(Date.now() / day) * day - 70 * day;
    const ancient = Math.floor(Date.now() / day) * day - 800 * day;
    await measure(ancient, 1);
    await measure(ancient + day, 2);
    for (const [index, bytes] of [10, 11, 12].entries()) await measure(old + index * hour, bytes);
    for (const [index, bytes] of [20, 21].entries()) await measure(began + index * minute, bytes);
    expect(await disk()).toEqual([1, 2, 10, 11, 12, 21]);
    await deleteAnalytics(world.database);
    expect(await disk()).toEqual([2, 12, 21]);
    const period = { from: new Date(began - day), to: new Date(), step: "hour" } as const;
    const found = await readAnalytics(world.pool, { environmentId, ...period });
    expect(found?.disk.map(({ disk_bytes }) => disk_bytes)).toEqual([12, 21]);
  });
});
