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

/** One that is good for so many hours; null: it is being made. */
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

/** A sweep so many hours from now over these zips, and which of them it removed. */
async function sweep(hours: number, there: readonly string[]): Promise<readonly string[]> {
  const removed: string[] = [];
  const downloads = {
    list: async () => there,
    remove: async (id: string) => {
      removed.push(id);
    },
  };
  await expireDownloads({ database: test.database, downloads, now: () => Date.now() + hours * hour });
  return removed;
}

it("one goes with its zip when its time is over, and not before; what is being made stays", async () => {
  const [short, long, making] = [await add(2), await add(10), await add(null)];
  const there = [short.id, long.id, making.id];
  expect(await sweep(1, there)).toEqual([]);
  expect(await sweep(3, there)).toEqual([short.id]);
  expect(await findDownloadableBackup(test.database, short.id)).toBeNull();
  expect(await findDownloadableBackup(test.database, long.id)).not.toBeNull();
  expect(await sweep(5, there)).toEqual([short.id]);
});

it("a zip whose environment is gone, or that nobody ever knew, goes too", async () => {
  const { id, environmentId } = await add(10);
  await test.database.deleteFrom("environments").where("id", "=", environmentId).execute();
  const stranger = randomUUID();
  expect(await sweep(0, [id, stranger])).toEqual([id, stranger]);
});

it("a zip that could not be removed is removed the next time", async () => {
  const { id } = await add(2);
  const full = { list: async () => [id], remove: () => Promise.reject(new Error("busy")) };
  const now = () => Date.now() + 3 * hour;
  await expect(expireDownloads({ database: test.database, downloads: full, now })).rejects.toThrow("busy");
  expect(await sweep(3, [id])).toEqual([id]);
});
