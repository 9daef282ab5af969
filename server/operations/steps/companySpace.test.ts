import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { insertDownloadableBackup } from "../../store/backups/downloadableBackups.ts";
import { setCompanyLimits } from "../../store/company/companyLimits.ts";
import { addCompany, addSite } from "../../store/testing/rows.ts";
import { useTestDatabase } from "../../testing/database.ts";
import { requireCompanySpace, requireQuota, reserveWithinQuota } from "./diskSpace.ts";

const own = useTestDatabase();
const megabyte = 1e6;

const limitDisk = (companyId: string, disk_bytes: number | null) =>
  own.database.transaction().execute((transaction) => setCompanyLimits(transaction, companyId, { disk_bytes }));

async function companyWith({ limit, sites }: { readonly limit: number; readonly sites: number }) {
  const { companyId } = await addCompany(own.database);
  await limitDisk(companyId, limit);
  const ids: { readonly environmentId: string; readonly siteId: string }[] = [];
  for (let count = 0; count < sites; count += 1) {
    const { id: siteId, environmentId } = await addSite(own.database, companyId);
    ids.push({ environmentId, siteId });
  }
  const [first] = ids;
  if (first === undefined) throw new Error("A company without sites");
  return { companyId, ids, ...first };
}

const keepPack = (companyId: string, bytes: number, state: "kept" | "lost" = "kept") =>
  own.database.insertInto("packs").values({ id: randomUUID(), company_id: companyId, state, bytes }).execute();

test("backups of a company use its disk space, and are refused without any", async () => {
  const { companyId, environmentId } = await companyWith({ limit: 10 * megabyte, sites: 1 });
  await keepPack(companyId, 9 * megabyte);
  await keepPack(companyId, 50 * megabyte, "lost");
  await requireCompanySpace(own.database, environmentId, "The backup");
  await keepPack(companyId, megabyte);
  await expect(requireCompanySpace(own.database, environmentId, "The backup")).rejects.toThrow(
    "The backup needs disk space, but the company uses 10 MB of 10 MB, backups included. Remove backups or environments",
  );
  await limitDisk(companyId, null);
  await requireCompanySpace(own.database, environmentId, "The backup");
});

test("an unfinished download counts as much as its environment", async () => {
  const { companyId, environmentId, siteId } = await companyWith({ limit: 10 * megabyte, sites: 1 });
  await own.database
    .updateTable("environments")
    .set({ disk_bytes: 5 * megabyte })
    .where("id", "=", environmentId)
    .execute();
  await requireCompanySpace(own.database, environmentId, "The downloadable backup");
  const row = { id: randomUUID(), companyId, siteId, environmentId, fileName: "a.zip", expiresAt: new Date() };
  await own.database.transaction().execute((transaction) => insertDownloadableBackup(transaction, row));
  await expect(requireCompanySpace(own.database, environmentId, "The downloadable backup")).rejects.toThrow(
    "10 MB of 10 MB",
  );
});

test("of simultaneous copies of a company, only those that fit together pass", async () => {
  const { ids } = await companyWith({ limit: 10 * megabyte, sites: 5 });
  const source = { id: "source", number: 1 };
  const runtime = { diskUse: async () => ({ files: 3 * megabyte, database: megabyte, temporary: 0 }) };
  const services = { database: own.database, diskQuotaBytes: null };
  const copy = ({ environmentId }: { readonly environmentId: string }) => {
    const after = { target: { id: environmentId, number: 2 }, files: source, database: source };
    return requireQuota({ ...services, runtime }, after, "The copy");
  };
  const outcomes = await Promise.allSettled(ids.map(copy));
  const passed = ids.filter((_, at) => outcomes[at]?.status === "fulfilled");
  expect(passed).toHaveLength(2);
  // A repeated step has its space already.
  for (const one of passed) await copy(one);
});

test("rejects a size above the quota, with the numbers", async () => {
  const { environmentId } = await companyWith({ limit: 500e6, sites: 1 });
  const runtime = { diskUse: async () => ({ files: 1, database: 1, temporary: 100e6 }) };
  const services = { database: own.database, diskQuotaBytes: null, runtime };
  const environment = { id: environmentId, number: 1 };
  await reserveWithinQuota(services, environment, 400e6, "The push");
  await expect(reserveWithinQuota(services, environment, 400e6 + 1, "The push")).rejects.toThrow(
    "The push would grow the environment to 501 MB, but its disk quota is 500 MB. Nothing was changed.",
  );
});
