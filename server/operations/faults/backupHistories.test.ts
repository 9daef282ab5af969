/**
 * Random histories of backups that are created, removed and expired in any order and concurrently, with processes that die
 * at any point: each listed backup can be restored byte for byte at any time, and in the end the store has no unneeded pack.
 */

import { randomBytes, randomUUID } from "node:crypto";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createRandom } from "@sitewright/dns/testing/random.ts";
import { removeTree } from "@sitewright/runtimes/folders.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Archives, openArchives } from "../../archives/archives.ts";
import type { Blobs } from "../../archives/blobs.ts";
import { openFolderBlobs } from "../../archives/folderBlobs.ts";
import type { PieceIndex } from "../../archives/pieceIndex.ts";
import { fixedKeys } from "../../keyFile.ts";
import { expireBackups } from "../../reconcilers/expireBackups.ts";
import { findBackup, removeBackupById } from "../../store/backups/backups.ts";
import { piecesFor } from "../../store/backups/pieces.ts";
import { liveSite } from "../../testing/sites.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { backUp, undoBackUp } from "../steps/backup.ts";

let world: World;
beforeAll(async () => {
  world = await makeWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const { signal } = new AbortController();
const day = 86_400_000;
const key = randomBytes(32);

/** A process that dies at this call, just before or just after the work, and does nothing afterwards. */
function mortal(calls: number, isDoneFirst: boolean) {
  let left = calls;
  const die = () => {
    throw new Error("The process is dead.");
  };
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (left <= 0) return die();
    left -= 1;
    if (left > 0) return work();
    if (isDoneFirst) await work();
    return die();
  };
}

type Call = ReturnType<typeof mortal>;
const immortal: Call = (work) => work();

function blobsThrough(call: Call, blobs: Blobs): Blobs {
  return {
    put: (...given) => call(() => blobs.put(...given)),
    read: (...given) => call(() => blobs.read(...given)),
    list: (...given) => call(() => blobs.list(...given)),
    remove: (...given) => call(() => blobs.remove(...given)),
  };
}

function indexThrough(call: Call, index: PieceIndex): PieceIndex {
  return {
    claim: (...given) => call(() => index.claim(...given)),
    beginPack: (...given) => call(() => index.beginPack(...given)),
    addPack: (...given) => call(() => index.addPack(...given)),
    locate: (...given) => call(() => index.locate(...given)),
    neededPacks: () => call(() => index.neededPacks()),
    piecesIn: (...given) => call(() => index.piecesIn(...given)),
    noteRead: (...given) => call(() => index.noteRead(...given)),
    markLost: (...given) => call(() => index.markLost(...given)),
    release: (...given) => call(() => index.release(...given)),
  };
}

type Files = ReadonlyMap<string, string>;
type Site = Awaited<ReturnType<typeof liveSite>> & { readonly root: string };

/** Returns the content of all files below the folder, by path. */
async function filesIn(root: string): Promise<Files> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const contents = await Promise.all(files.map((file) => readFile(file, "latin1")));
  return new Map(files.map((file, index) => [file.slice(root.length), contents[index] ?? ""]));
}

/** Creates one company with two environments and its own store, and records the content of its backups. */
async function makeHistory(seed: number) {
  const chance = createRandom(seed);
  const upTo = (most: number) => Math.floor(chance() * most);
  const { database } = world.own;
  const first = await liveSite(world);
  const second = await liveSite(world);
  for (const table of ["sites", "environments"] as const) {
    const column = table === "sites" ? "id" : "site_id";
    const row = database.updateTable(table).set({ company_id: first.companyId });
    await row.where(column, "=", second.siteId).execute();
  }
  const sites: Site[] = [];
  for (const site of [first, second]) {
    const layout = await world.services.runtime.layout(site.environment);
    sites.push({ ...site, root: layout?.documentRoot ?? "" });
  }
  const store = join(world.facts.dataFolder, `store-${seed}`);
  const blobs = openFolderBlobs(store);
  const listed = new Map<number, Files>();
  let daysLater = 0;

  function archivesOf(call: Call): Archives {
    return openArchives({
      blobs: blobsThrough(call, blobs),
      keys: fixedKeys(key),
      indexOf: (backup) => indexThrough(call, piecesFor(database, backup)),
      work: join(world.facts.dataFolder, "work"),
      removeFolder: removeTree,
    });
  }

  async function change(): Promise<void> {
    const [site, other] = chance() < 0.5 ? sites : sites.toReversed();
    const file = `${upTo(6)}.bin`;
    const changed = join(site?.root ?? "", file);
    if (chance() < 0.2) return rm(changed, { force: true });
    // Sometimes the other environment's content, which the store holds once for both.
    const theirs = await readFile(join(other?.root ?? "", file)).catch(() => null);
    await writeFile(changed, theirs !== null && chance() < 0.3 ? theirs : randomBytes(1 + upTo(30_000)));
  }

  /** Makes a backup in a process that may die. The next process completes or undoes it. */
  async function make(site: Site): Promise<void> {
    const { environment, address, root } = site;
    const operationId = randomUUID();
    const files = await filesIn(root);
    const request = { environment, address, operationId, type: "manual", name: "n", note: null } as const;
    const days = daysLater + upTo(8);
    const services = {
      ...world.services,
      backupDays: { manual: days, scheduled: days, "system-generated": days },
    };
    const dying = mortal(1 + upTo(12), chance() < 0.5);
    const processes = [chance() < 0.5 ? dying : immortal, ...(chance() < 0.5 ? [immortal] : [])];
    for (const call of processes) {
      const isDone = await backUp({ ...services, archives: archivesOf(call) }, request, signal).then(
        () => true,
        () => false,
      );
      if (!isDone) continue;
      const row = database.selectFrom("backups").select("id").where("operation_id", "=", operationId);
      listed.set((await row.executeTakeFirstOrThrow()).id, files);
      return;
    }
    await undoBackUp({ ...services, archives: archivesOf(immortal) }, operationId);
  }

  async function remove(): Promise<void> {
    const [id] = [...listed.keys()].slice(upTo(listed.size));
    if (id === undefined) return;
    listed.delete(id);
    await removeBackupById(database, id);
  }

  /** Removes expired backups and unneeded packs, in a process that may die. Expired backups are no longer listed. */
  async function expire(call: Call): Promise<void> {
    const now = () => Date.now() + daysLater * day;
    await expireBackups({ database, archives: archivesOf(call), now }).catch(() => undefined);
    for (const id of listed.keys()) if ((await findBackup(database, id)) === null) listed.delete(id);
  }

  async function check(): Promise<void> {
    const archives = archivesOf(immortal);
    for (const [id, files] of listed) {
      const backup = await findBackup(database, id);
      if (backup === null) throw new Error(`Backup ${id} is gone`);
      const folder = await archives.workFolder(`check-${id}`);
      await archives.restore(backup, folder, () => true, signal);
      expect(await filesIn(join(folder, "public")), `backup ${id} of seed ${seed}`).toEqual(files);
      await archives.removeWorkFolder(`check-${id}`);
    }
  }

  /** Takes a random step: one action, or two at once. */
  async function step(): Promise<void> {
    const dice = chance();
    const [first, second] = sites;
    if (first === undefined || second === undefined) return;
    if (dice < 0.35) await change();
    else if (dice < 0.55) await make(chance() < 0.5 ? first : second);
    else if (dice < 0.65) await Promise.all([make(first), make(second)]);
    else if (dice < 0.75) await Promise.all([make(first), expire(immortal)]);
    else if (dice < 0.85) await remove();
    else {
      daysLater += upTo(3);
      await expire(chance() < 0.5 ? mortal(1 + upTo(3), chance() < 0.5) : immortal);
    }
  }

  /** Expires everything, long after the last backup was started, and checks that only needed packs are left. */
  async function expireAll(): Promise<void> {
    for (let round = 0; round < 2; round += 1) {
      const now = () => Date.now() + (1 + daysLater + 2 * round) * day;
      await expireBackups({ database, archives: archivesOf(immortal), now });
    }
    for (const id of listed.keys()) if ((await findBackup(database, id)) === null) listed.delete(id);
    const rows = database.selectFrom("packs").select("id").where("company_id", "=", first.companyId);
    const packs = (await rows.execute()).map(({ id }) => `packs/${first.companyId}/${id}`);
    const kept = await blobs.list("packs", signal);
    expect([...kept.keys()].toSorted(), `packs of seed ${seed}`).toEqual(packs.toSorted());
  }

  return { step, check, expireAll, listed };
}

test.each([1, 2, 3, 4, 5, 6])("random history %i loses no backup and leaves no unneeded pack", async (seed) => {
  const { step, check, expireAll } = await makeHistory(seed);
  for (let count = 1; count <= 40; count += 1) {
    await step();
    if (count % 8 === 0) await check();
  }
  await expireAll();
  await check();
});
