/** Damage in the archives is found early, shown on the affected backups, and repaired by the next backup. */
import { randomBytes, randomUUID } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { backUp } from "../operations/steps/backup.ts";
import { fetchBackup } from "../operations/steps/fetchBackup.ts";
import { makeBackupLists } from "../store/backups/backupList.ts";
import { findNewestBackup, removeExpiredBackups } from "../store/backups/backups.ts";
import { raiseVerified } from "../store/backups/damage.ts";
import { markUnusedPacks } from "../store/backups/packs.ts";
import { liveSite } from "../testing/sites.ts";
import { makeWorld, type World } from "../testing/world.ts";
import { readArchives } from "./readArchives.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const { signal } = new AbortController();
const day = 86_400_000;
const pause = async () => undefined;
/** An offset inside the file that is put into the site. */
const middle = 50_000;

const read = (days = 7) => {
  const { database, archives } = world.services;
  return readArchives({ database, archives, days, signal, pause });
};

async function makeSite() {
  const site = await liveSite(world);
  const { database } = world.own;
  const { environment, address, companyId } = site;
  const layout = await world.services.runtime.layout(environment);
  const packs = join(world.facts.dataFolder, "archives", "packs", companyId);
  const namesOf = () => readdir(packs).catch((): string[] => []);
  const fill = (name: string, content: Buffer) => writeFile(join(layout?.documentRoot ?? "", name), content);
  const keep = async (type: "manual" | "system-generated" = "manual") => {
    const before = new Set(await namesOf());
    await backUp(
      world.services,
      { environment, address, operationId: randomUUID(), type, name: "n", note: null },
      signal,
    );
    const backup = await findNewestBackup(database, environment.id);
    if (backup === null) throw new Error("There is no backup");
    return { ...backup, packs: (await namesOf()).filter((name) => !before.has(name)) };
  };
  return {
    ...site,
    fill,
    keep,
    flip: async (pack = "") => {
      const content = await readFile(join(packs, pack));
      content.writeUInt8(content.readUInt8(middle) ^ 1, middle);
      await writeFile(join(packs, pack), content);
    },
    list: async () => (await makeBackupLists(world.own.pool).list(environment.id))?.backups ?? [],
    damages: async () =>
      (await makeBackupLists(world.own.pool).list(environment.id))?.backups.map(({ damage }) => damage),
    restore: async (backup: Awaited<ReturnType<typeof keep>>) => {
      const work = randomUUID();
      await fetchBackup(world.services, { backup, work }, signal);
      await world.services.archives.removeWorkFolder(work);
    },
    age: async (days: number) => {
      const readAt = new Date(Date.now() - days * day);
      await database.updateTable("packs").set({ read_at: readAt }).where("company_id", "=", companyId).execute();
      return readAt.getTime();
    },
  };
}

test("a manual backup hours after one that is damaged does not reuse its packs, and repairs it", async () => {
  const site = await makeSite();
  await site.fill("a.bin", randomBytes(2 * middle));
  const first = await site.keep();
  await site.age(0.1);
  await site.flip(first.packs[0]);
  const second = await site.keep();
  await site.restore(second);
  await read();
  expect(await site.damages()).toEqual([null, null]);
  await site.restore(first);
});

test("damage is found by reading, and shown only on the backups that need the data", async () => {
  const site = await makeSite();
  const other = await site.keep();
  await site.fill("a.bin", randomBytes(2 * middle));
  const broken = await site.keep();
  await site.flip(broken.packs[0]);
  await read();
  expect(await site.damages()).toEqual([null, null]);
  await site.age(8);
  await read();
  await read();
  expect(await site.damages()).toEqual([expect.stringMatching(/for .*a\.bin is missing or damaged\.$/), null]);
  await site.restore(other);
  await expect(site.restore(broken)).rejects.toThrow("can't be restored");
});

test("damage that makes a restore fail shows in the list at once", async () => {
  const site = await makeSite();
  await site.fill("a.bin", randomBytes(2 * middle));
  const broken = await site.keep();
  await site.flip(broken.packs[0]);
  await expect(site.restore(broken)).rejects.toThrow("a.bin");
  expect(await site.damages()).toEqual([expect.stringContaining("a.bin is missing or damaged.")]);
});

test("older backups are intact again when their missing data is archived again, and the packs they need then are kept", async () => {
  const site = await makeSite();
  const { database } = world.own;
  const content = randomBytes(2 * middle);
  await site.fill("a.bin", content);
  const first = await site.keep();
  await site.flip(first.packs[0]);
  await expect(site.restore(first)).rejects.toThrow();
  await database
    .updateTable("backups")
    .set({ proof_error: (await site.damages())?.[0] ?? null })
    .where("id", "=", first.id)
    .execute();
  const second = await site.keep();
  await read();
  expect((await site.list()).map(({ damage, proof_error }) => [damage, proof_error])).toEqual([
    [null, null],
    [null, null],
  ]);
  await database.deleteFrom("backups").where("id", "=", second.id).execute();
  await markUnusedPacks(database, new Date(Date.now() + day));
  await site.restore(first);
});

test("a backup that can't be repaired stays marked, and is examined again, because the missing data may come back", async () => {
  const site = await makeSite();
  await site.fill("a.bin", randomBytes(2 * middle));
  const first = await site.keep();
  await site.flip(first.packs[0]);
  await expect(site.restore(first)).rejects.toThrow();
  await site.fill("a.bin", randomBytes(2 * middle));
  await site.keep();
  await read();
  expect(await site.damages()).toEqual([null, expect.stringContaining("a.bin")]);
  await site.flip(first.packs[0]);
  await read();
  expect(await site.damages()).toEqual([null, expect.stringContaining("a.bin")]);
  await world.own.database
    .updateTable("backups")
    .set({ examine_at: new Date(0) })
    .where("id", "=", first.id)
    .execute();
  await read();
  expect(await site.damages()).toEqual([null, null]);
  await site.restore(first);
});

test("the list says when all data of a backup was last verified", async () => {
  const site = await makeSite();
  await site.fill("a.bin", randomBytes(2 * middle));
  await site.keep();
  const readAt = await site.age(3);
  await site.keep("system-generated");
  const [newest] = await site.list();
  expect(newest?.verified_at).toBe(readAt);
  await read(2);
  await raiseVerified(world.own.database);
  for (const { verified_at } of await site.list()) expect(verified_at).toBeGreaterThan(Date.now() - day);
});

test("of expired backups the newest is kept, and the newest without known damage", async () => {
  const site = await makeSite();
  const { database } = world.own;
  const good = await site.keep();
  const [worse, worst] = [await site.keep(), await site.keep()];
  const mark = (id: number, facts: { damage?: string; proof_error?: string }) =>
    database.updateTable("backups").set(facts).where("id", "=", id).execute();
  await mark(worse.id, { damage: "It is damaged." });
  await mark(worst.id, { proof_error: "It failed." });
  const later = new Date(Date.now() + 100 * day);
  await removeExpiredBackups(database, later);
  expect((await site.list()).map(({ id }) => id)).toEqual([worst.id, good.id]);
  const next = await site.keep();
  await removeExpiredBackups(database, later);
  expect((await site.list()).map(({ id }) => id)).toEqual([next.id]);
});

test("a pack that can't be read does not stop the others from being read", async () => {
  const site = await makeSite();
  await site.fill("a.bin", randomBytes(2 * middle));
  await site.keep();
  await site.fill("b.bin", randomBytes(2 * middle));
  await site.keep();
  await site.age(8);
  const { database, archives } = world.services;
  let times = 0;
  const failing = {
    ...archives,
    readPack: async (...given: Parameters<typeof archives.readPack>) => {
      times += 1;
      if (times === 1) throw new Error("The store is slow today.");
      return archives.readPack(...given);
    },
  };
  await expect(readArchives({ database, archives: failing, days: 7, signal, pause })).rejects.toThrow("slow today");
  expect(times).toBeGreaterThan(1);
  await read();
  expect(await site.damages()).toEqual([null, null]);
});
