import type { EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { addCompany, addEndedOperation, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { measureDisk } from "./measureDisk.ts";

const world = useTestDatabase();
let companyId: string;
let environmentId: string;
let measured: string[];
let published: number;
let size: number;

beforeEach(async () => {
  await world.database.deleteFrom("sites").execute();
  ({ companyId } = await addCompany(world.database));
  ({ environmentId } = await addSite(world.database, companyId));
  measured = [];
  published = 0;
  size = 1_000_000;
});

const measure = (diskQuotaBytes: number | null = null) =>
  measureDisk({
    database: world.database,
    runtime: {
      diskUse: async ({ id }: EnvironmentRef) => {
        measured.push(id);
        return { files: size - 1, database: 1, temporary: 1 };
      },
    },
    publisher: {
      publish: async () => {
        published += 1;
      },
    },
    diskQuotaBytes,
    restFactor: 0,
  });

const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);

async function set(values: Readonly<Record<string, Date | number | null>>): Promise<void> {
  await world.database.updateTable("environments").set(values).where("id", "=", environmentId).execute();
}

describe("an environment", () => {
  test("is measured again only after something was written to it", async () => {
    await measure();
    await measure();
    expect(measured).toEqual([environmentId]);
    const row = world.database.selectFrom("environments").select(["disk_bytes", "disk_measured_at"]);
    const found = await row.where("id", "=", environmentId).executeTakeFirstOrThrow();
    expect(found.disk_bytes).toBe(1_000_001);
    expect(Math.abs((found.disk_measured_at?.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
    await set({ disk_measured_at: ago(1_000), written_at: ago(900) });
    await measure();
    expect(measured.length).toBe(2);
  });

  test.each([
    { what: "measured a moment ago", measuredAt: 60, written: 1, bytes: 1, times: 0 },
    { what: "measured long ago", measuredAt: 400, written: 1, bytes: 1, times: 1 },
    { what: "near its quota, measured half a minute ago", measuredAt: 30, written: 1, bytes: 950_000, times: 1 },
    { what: "near its quota, measured just now", measuredAt: 10, written: 1, bytes: 950_000, times: 0 },
    { what: "near its quota, and nothing was written", measuredAt: 1_000, written: 2_000, bytes: 950_000, times: 0 },
  ])("that was written to: $what, is measured $times times", async ({ measuredAt, written, bytes, times }) => {
    await set({ disk_measured_at: ago(measuredAt), written_at: ago(written), disk_bytes: bytes });
    await measure(1_000_000);
    expect(measured.length).toBe(times);
  });

  test("is measured again after an operation, once", async () => {
    await measure();
    await set({ disk_measured_at: ago(1_000) });
    await measure();
    expect(measured.length).toBe(1);
    await addEndedOperation(world.database, { companyId, environmentId });
    await measure();
    await measure();
    expect(measured.length).toBe(2);
  });

  test("is published to the edge if it has a quota, its own or the installation's", async () => {
    await measure();
    expect(published).toBe(0);
    await set({ disk_measured_at: null, disk_quota_bytes: 5_000_000 });
    await measure();
    expect(published).toBe(1);
    await set({ disk_measured_at: null, disk_quota_bytes: null });
    await measure(5_000_000);
    expect(published).toBe(2);
  });

  test("that is being added or awaits its rebuild is not measured", async () => {
    await world.database.updateTable("environments").set({ state: "adding" }).execute();
    await measure();
    await world.database.updateTable("environments").set({ state: "serving", awaits_rebuild: true }).execute();
    await measure();
    expect(measured).toEqual([]);
  });
});
