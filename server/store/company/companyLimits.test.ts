import { expect, it } from "vitest";
import { useTestDatabase } from "../../testing/database.ts";
import { findCommandLimits } from "../sites/commandLimits.ts";
import { quotaOf } from "../sites/diskUse.ts";
import { addCompany, addSite } from "../testing/rows.ts";
import { listServed } from "../traffic/routes.ts";
import { setCompanyLimits } from "./companyLimits.ts";

const test = useTestDatabase();

async function addCompanyWithSizes(...sizes: readonly number[]) {
  const { companyId } = await addCompany(test.database);
  const ids: string[] = [];
  for (const disk_bytes of sizes) {
    const { environmentId } = await addSite(test.database, companyId);
    const environment = test.database.updateTable("environments").where("id", "=", environmentId);
    await environment.set({ disk_bytes, disk_measured_at: new Date() }).execute();
    ids.push(environmentId);
  }
  return { companyId, ids };
}

/** The free quota of each environment, as published to the edge. */
async function leftBytes(ids: readonly string[], defaultQuotaBytes: number | null) {
  const served = await listServed(test.database, defaultQuotaBytes);
  return ids.map((id) => served.find((row) => row.id === id)?.limits.disk?.leftBytes ?? null);
}

it("lets the environments of a company grow by what they have left together", async () => {
  const { companyId, ids } = await addCompanyWithSizes(300, 100);
  expect(await leftBytes(ids, null)).toEqual([null, null]);
  await test.database.transaction().execute((open) => setCompanyLimits(open, companyId, { disk_bytes: 1_000 }));
  expect(await leftBytes(ids, null)).toEqual([600, 600]);
  expect(await leftBytes(ids, 500)).toEqual([200, 400]);
  expect(await quotaOf(test.database, ids[0] ?? "", null)).toBe(900);
  expect((await findCommandLimits(test.database, ids[1] ?? "", null))?.quotaBytes).toBe(700);
});

it("lets a company exceed the installation's quota only if it has a limit of its own", async () => {
  const { companyId, ids } = await addCompanyWithSizes(100);
  await test.database.updateTable("environments").set({ disk_quota_bytes: 900 }).where("id", "in", ids).execute();
  expect(await leftBytes(ids, 500)).toEqual([400]);
  await test.database.transaction().execute((open) => setCompanyLimits(open, companyId, { disk_bytes: 800 }));
  expect(await leftBytes(ids, 500)).toEqual([700]);
});

it("lets no environment have more threads or memory than its company", async () => {
  const { companyId, ids } = await addCompanyWithSizes(100);
  await test.database
    .transaction()
    .execute((open) => setCompanyLimits(open, companyId, { php_threads: 1, php_memory_mb: 128 }));
  const [row] = (await listServed(test.database, null)).filter(({ id }) => ids.includes(id));
  expect(row?.limits).toMatchObject({ threads: 1, companyThreads: 1, memoryMb: 128 });
});
