import { randomUUID } from "node:crypto";
import { expect, test as it } from "vitest";
import {
  findDownloadableBackup,
  finishDownloadableBackup,
  insertDownloadableBackup,
} from "../store/backups/downloadableBackups.ts";
import { addCompany, addSite } from "../store/testing/rows.ts";
import { useTestDatabase } from "../testing/database.ts";
import { expireDownloads } from "./expireDownloads.ts";

const test = useTestDatabase();
const hour = 3_600_000;

/** Adds a downloadable backup that expires after `hours`; null: it is unfinished. */
async function add(hours: number | null) {
  const { database } = test;
  const { companyId } = await addCompany(database);
  const { id: siteId, environmentId } = await addSite(database, companyId);
  const [id, expiresAt] = [randomUUID(), new Date(Date.now() + (hours ?? 1) * hour)];
  const row = { id, companyId, siteId, environmentId, fileName: "demo.zip", expiresAt };
  await database.transaction().execute((transaction) => insertDownloadableBackup(transaction, row));
  if (hours !== null) await finishDownloadableBackup(database, id, { bytes: 1, expiresAt });
  return { id, environmentId };
}

/** Runs `expireDownloads` as of `hours` from now on these zips; returns the removed ones. */
async function sweep(hours: number, zips: readonly string[]): Promise<readonly string[]> {
  const removed: string[] = [];
  const downloads = {
    list: async () => zips,
    remove: async (id: string) => {
      removed.push(id);
    },
  };
  await expireDownloads({ database: test.database, downloads, now: () => Date.now() + hours * hour });
  return removed;
}

it("an expired backup is removed with its zip; unfinished ones are kept", async () => {
  const [short, long, making] = [await add(2), await add(10), await add(null)];
  const zips = [short.id, long.id, making.id];
  expect(await sweep(1, zips)).toEqual([]);
  expect(await sweep(3, zips)).toEqual([short.id]);
  expect(await findDownloadableBackup(test.database, short.id)).toBeNull();
  expect(await findDownloadableBackup(test.database, long.id)).not.toBeNull();
  expect(await sweep(5, zips)).toEqual([short.id]);
});

it("zips without a row are removed: the environment was removed, or there never was a row", async () => {
  const { id, environmentId } = await add(10);
  await test.database.deleteFrom("environments").where("id", "=", environmentId).execute();
  const unknown = randomUUID();
  expect(await sweep(0, [id, unknown])).toEqual([id, unknown]);
});

it("a zip whose removal failed is removed in the next run", async () => {
  const { id } = await add(2);
  const failing = { list: async () => [id], remove: () => Promise.reject(new Error("busy")) };
  const now = () => Date.now() + 3 * hour;
  await expect(expireDownloads({ database: test.database, downloads: failing, now })).rejects.toThrow("busy");
  expect(await sweep(3, [id])).toEqual([id]);
});
