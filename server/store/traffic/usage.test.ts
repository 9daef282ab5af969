import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { addCompany, addSite } from "../testing/rows.ts";
import { addUsage, type Counters, deleteUsage, listUsage } from "./usage.ts";

const world = useTestDatabase();

const counters = (cpu: number, writes = 0): Counters => ({
  php_requests: cpu,
  php_milliseconds: cpu,
  cpu_milliseconds: cpu,
  killed_for_time: 0,
  killed_for_memory: 0,
  refused_busy: 0,
  bytes_sent: 0,
  writes,
});

async function environment(): Promise<string> {
  const { companyId } = await addCompany(world.database);
  return (await addSite(world.database, companyId)).environmentId;
}

const report = (run: string, id: string, seen: Counters) =>
  addUsage(world.database, run, [{ environment_id: id, recent_cores: 0, counters: seen }]);

async function cpuOf(id: string): Promise<number> {
  const rows = await world.database
    .selectFrom("usage_hours")
    .select("cpu_milliseconds")
    .where("environment_id", "=", id)
    .execute();
  return rows.reduce((sum, row) => sum + row.cpu_milliseconds, 0);
}

describe("usage counted by the edge", () => {
  test("is added once, even if reported repeatedly", async () => {
    const [id, run] = [await environment(), randomUUID()];
    for (const cpu of [100, 100, 250, 250]) await report(run, id, counters(cpu));
    expect(await cpuOf(id)).toBe(250);
  });

  test("is added to counts of earlier starts of the edge", async () => {
    const id = await environment();
    await report(randomUUID(), id, counters(100));
    const run = randomUUID();
    await report(run, id, counters(30));
    await report(run, id, counters(40));
    expect(await cpuOf(id)).toBe(140);
  });

  test("is ignored for environments that are gone", async () => {
    const [id, run] = [await environment(), randomUUID()];
    const seen = [randomUUID(), id].map((each) => ({ environment_id: each, recent_cores: 0, counters: counters(5) }));
    await addUsage(world.database, run, seen);
    expect(await cpuOf(id)).toBe(5);
  });

  test("updates the time of the last write only on writes", async () => {
    const [id, run] = [await environment(), randomUUID()];
    const writtenAt = async () => {
      const row = world.database.selectFrom("environments").select("written_at").where("id", "=", id);
      return (await row.executeTakeFirstOrThrow()).written_at;
    };
    await report(run, id, counters(1));
    expect(await writtenAt()).toBeNull();
    await report(run, id, counters(1, 1));
    const first = await writtenAt();
    expect(first).not.toBeNull();
    await report(run, id, counters(2, 1));
    expect(await writtenAt()).toEqual(first);
  });

  test("is deleted after the given number of days", async () => {
    const id = await environment();
    await report(randomUUID(), id, counters(1));
    const age = (days: number) =>
      world.database
        .updateTable("usage_hours")
        .set({ hour: new Date(Date.now() - days * 86_400_000) })
        .where("environment_id", "=", id)
        .execute();
    await age(61);
    await deleteUsage(world.database, 62);
    expect(await cpuOf(id)).toBe(1);
    await age(63);
    await deleteUsage(world.database, 62);
    expect(await cpuOf(id)).toBe(0);
  });
});

test("a page after the end of the list has the list's total", async () => {
  const { companyId } = await addCompany(world.database);
  await addSite(world.database, companyId);
  const hour = { from: new Date(0), to: new Date(), order: "cpu", siteIds: null, limit: 10 } as const;
  const pages = [0, 1].map((offset) => listUsage(world.pool, { companyId, ...hour, offset }));
  expect((await Promise.all(pages)).map(({ items, total }) => [items.length, total])).toEqual([
    [1, 1],
    [0, 1],
  ]);
});
