import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { addCompany, addSite } from "../testing/rows.ts";
import { addUsage, type Counters, deleteUsage } from "./usage.ts";

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

const see = (run: string, id: string, seen: Counters) =>
  addUsage(world.database, run, [{ environment_id: id, recent_cores: 0, counters: seen }]);

async function cpuOf(id: string): Promise<number> {
  const rows = await world.database
    .selectFrom("usage_hours")
    .select("cpu_milliseconds")
    .where("environment_id", "=", id)
    .execute();
  return rows.reduce((sum, row) => sum + row.cpu_milliseconds, 0);
}

describe("what the edge has counted", () => {
  test("is added once, however often it is told", async () => {
    const [id, run] = [await environment(), randomUUID()];
    for (const cpu of [100, 100, 250, 250]) await see(run, id, counters(cpu));
    expect(await cpuOf(id)).toBe(250);
  });

  test("is added to what another start of the edge had counted", async () => {
    const id = await environment();
    await see(randomUUID(), id, counters(100));
    const run = randomUUID();
    await see(run, id, counters(30));
    await see(run, id, counters(40));
    expect(await cpuOf(id)).toBe(140);
  });

  test("of environments that are gone is left out, and stands in nobody's way", async () => {
    const [id, run] = [await environment(), randomUUID()];
    const seen = [randomUUID(), id].map((one) => ({ environment_id: one, recent_cores: 0, counters: counters(5) }));
    await addUsage(world.database, run, seen);
    expect(await cpuOf(id)).toBe(5);
  });

  test("tells when something was written, and only then", async () => {
    const [id, run] = [await environment(), randomUUID()];
    const writtenAt = async () => {
      const row = world.database.selectFrom("environments").select("written_at").where("id", "=", id);
      return (await row.executeTakeFirstOrThrow()).written_at;
    };
    await see(run, id, counters(1));
    expect(await writtenAt()).toBeNull();
    await see(run, id, counters(1, 1));
    const first = await writtenAt();
    expect(first).not.toBeNull();
    await see(run, id, counters(2, 1));
    expect(await writtenAt()).toEqual(first);
  });

  test("is forgotten after the days for which it is kept", async () => {
    const id = await environment();
    await see(randomUUID(), id, counters(1));
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
