/**
 * Backups on a store that fails at any call: the operation reports it and leaves nothing behind, and the next one
 * works.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openFolderBlobs } from "../../archives/folderBlobs.ts";
import { namingFailures } from "../../archives/namedFailures.ts";
import { ObjectStoreFailure } from "../../archives/objectStoreFailure.ts";
import { keyCheckOf } from "../../archives/pieceBox.ts";
import { openS3Blobs } from "../../archives/s3Blobs.ts";
import {
  type BlobCall,
  type FaultyBlobs,
  failingOnce,
  makeFaultyBlobs,
  noFaults,
} from "../../archives/testing/faultyBlobs.ts";
import { expireBackups } from "../../reconcilers/expireBackups.ts";
import { readArchives } from "../../reconcilers/readArchives.ts";
import { archiveFolderExists } from "../../settings/archiveUrl.ts";
import { storeMemory } from "../../store/backups/archiveStore.ts";
import { findNewestBackup, removeBackupById } from "../../store/backups/backups.ts";
import type { FinishedBackup } from "../../store/backups/finishedBackup.ts";
import { backingUp, removingBackup, restoringBackup, restoringWithoutBackup } from "../../testing/backups.ts";
import { liveSite } from "../../testing/sites.ts";
import { testingBackup } from "../../testing/testRestores.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { withGuardedStore, withStore } from "../../testing/withStore.ts";
import { forgetSites, makeWorld, type World } from "../../testing/world.ts";
import type { OperationRequest } from "../engine/accept.ts";
import { backUp } from "../steps/backup.ts";
import type { Harness, Subject } from "./testing/crashHarness.ts";

let world: World;
let blobs: FaultyBlobs;
beforeAll(async () => {
  const made = await makeWorld();
  const { dataFolder } = made.facts;
  blobs = makeFaultyBlobs(openFolderBlobs(join(dataFolder, "archives")));
  world = withStore(made, namingFailures(blobs), key);
});
afterEach(() => forgetSites(world));
afterAll(() => world[Symbol.asyncDispose]());

const key = randomBytes(32);
const { signal } = new AbortController();
const day = 86_400_000;

const unreachable = () =>
  new ObjectStoreFailure("The archive store at http://10.0.0.7:9000 can't be reached: it is off.", {
    isTransient: true,
    summary: "The archive store can't be reached.",
  });
const full = () => Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });

/** Bytes that need more than one pack. */
const large = 9 << 20;

async function rootOf(request: OperationRequest): Promise<string> {
  const { environmentId: id } = request;
  const row = await world.own.database
    .selectFrom("environments")
    .select("number")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const layout = await world.services.runtime.layout({ id: id ?? "", number: row.number });
  if (layout === null) throw new Error("The environment is gone");
  return layout.documentRoot;
}

/** Prepares the operation, with a file in the environment that no backup has yet. */
async function prepare(subject: Subject): Promise<OperationRequest> {
  blobs.plan(noFaults);
  const request = await subject.prepare(world);
  await writeFile(join(await rootOf(request), "large.bin"), randomBytes(large));
  return request;
}

/** Returns the request as a caller would repeat it. */
function again(request: OperationRequest): OperationRequest {
  const { input } = request;
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return isObject && "token" in input ? { ...request, input: { ...input, token: randomUUID() } } : request;
}

/** Counts the calls to the store in a run without faults. */
async function countCalls(harness: Harness, subject: Subject): Promise<readonly (readonly [BlobCall, number])[]> {
  const request = await prepare(subject);
  blobs.plan(noFaults);
  expect(await harness.submit(request)).toMatchObject({ state: "succeeded" });
  return (["put", "read", "list", "remove"] as const).map((call) => [call, blobs.count(call)]);
}

/** Runs the operation with the fault and then without. Returns the problems. */
async function runWith(
  harness: Harness,
  subject: Subject,
  call: BlobCall,
  nth: number,
  error: () => Error,
  says: RegExp,
) {
  const request = await prepare(subject);
  blobs.plan(failingOnce(call, nth, error));
  const row = await harness.submit(request);
  const wrong = [...(await subject.undone(world, request))];
  if (row.state !== "failed" || !says.test(row.public_error ?? "")) wrong.push(`${row.state}: ${row.public_error}`);
  blobs.plan(noFaults);
  const next = await harness.submit(again(request));
  if (next.state !== "succeeded") wrong.push(`the next operation ${next.state}: ${next.public_error}`);
  wrong.push(...(await subject.finished(world, request)));
  await forgetSites(world);
  return wrong.map((sentence) => `${call} ${nth}: ${sentence}`);
}

const reference = "(?:backups:restore-)?[0-9a-f-]{36}";
/** The hint if the backup before a restore failed. */
const bypassHint = " To restore it anyway .+";
const saysUnreachable = new RegExp(
  `^The archive store can't be reached\\. The operator finds the cause in the log under ${reference}\\.(${bypassHint})?$`,
);

const saysFull = new RegExp(
  `^The archives' disk is full\\. Free up space on it\\. The operator finds the cause in the log under ${reference}\\.(${bypassHint})?$`,
);

describe.each(Object.entries({ "A backup": backingUp, "A restore": restoringBackup }))("%s", (_, subject) => {
  test("fails without a trace at every failing call to the store, names the reason, and works the next time", async () => {
    await withEngine(world, async (harness) => {
      const calls = await countCalls(harness, subject);
      expect(Object.fromEntries(calls)).toMatchObject({ put: 2, list: 1, remove: 0 });
      for (const [call, count] of calls) {
        for (let nth = 1; nth <= count; nth += 1) {
          expect(await runWith(harness, subject, call, nth, unreachable, saysUnreachable)).toEqual([]);
        }
      }
    });
  });

  test("fails without a trace if the store's disk is full, and names the reason", async () => {
    await withEngine(world, async (harness) => {
      for (const nth of [1, 2]) {
        expect(await runWith(harness, subject, "put", nth, full, saysFull)).toEqual([]);
      }
    });
  });
});

test.each([
  ["is full", full, saysFull],
  [
    "is read-only",
    () => Object.assign(new Error("EROFS"), { code: "EROFS" }),
    /^The archive folder can't be used\. .+ To restore it/,
  ],
])("a restore without a backup before it works with a store that %s", async (_, error, says) => {
  await withEngine(world, async (harness) => {
    const request = await prepare(restoringWithoutBackup);
    blobs.plan((call) => (call === "put" ? error() : null));
    const careful = { ...request, input: { ...Object(request.input), withoutBackup: false } };
    expect(await harness.submit(again(careful))).toMatchObject({ public_error: expect.stringMatching(says) });
    expect(await restoringWithoutBackup.undone(world, request)).toEqual([]);
    expect(await harness.submit(request)).toMatchObject({ state: "succeeded" });
    expect(await restoringWithoutBackup.finished(world, request)).toEqual([]);
  });
});

test("a backup can be removed while the store can't be reached", async () => {
  await withEngine(world, async (harness) => {
    const request = await prepare(removingBackup);
    blobs.plan(unreachable);
    expect(await harness.submit(request)).toMatchObject({ state: "succeeded" });
    expect(await removingBackup.finished(world, request)).toEqual([]);
  });
});

/** Backs up the site with a file that no other backup has. */
async function backUpNow(site: Awaited<ReturnType<typeof liveSite>>): Promise<FinishedBackup> {
  const { environment, address } = site;
  const layout = await world.services.runtime.layout(environment);
  await writeFile(join(layout?.documentRoot ?? "", "large.bin"), randomBytes(100_000));
  const request = { environment, address, operationId: randomUUID(), type: "manual", name: "n", note: null } as const;
  await backUp(world.services, request, signal);
  const backup = await findNewestBackup(world.own.database, environment.id);
  if (backup === null) throw new Error("There is no backup");
  return backup;
}

test("a failed expiry run loses no needed pack, and the next one removes the rest", async () => {
  blobs.plan(noFaults);
  const site = await liveSite(world);
  const { database } = world.own;
  await backUpNow(site);
  const unwanted = [await backUpNow(site), await backUpNow(site)];
  const kept = await backUpNow(site);
  for (const { id } of unwanted) await removeBackupById(database, id);
  const folder = `packs/${site.companyId}`;
  const countPacks = async () => (await blobs.list(folder, signal)).size;
  const expire = (days: number) =>
    expireBackups({ database, archives: world.services.archives, now: () => Date.now() + days * day });
  await expire(2);
  const before = await countPacks();
  for (const days of [4, 5]) {
    blobs.plan((call) => (call === "remove" ? unreachable() : null));
    await expect(expire(days)).rejects.toThrow("can't be reached");
    expect(await countPacks()).toBe(before);
  }
  blobs.plan(failingOnce("remove", 2, unreachable));
  await expect(expire(6)).rejects.toThrow("can't be reached");
  blobs.plan(noFaults);
  await expire(6);
  expect(await countPacks()).toBe(before - unwanted.length);
  const restored = await world.services.archives.workFolder("restored");
  await world.services.archives.restore(kept, restored, () => true, signal);
  await world.services.archives.removeWorkFolder("restored");
});

test("a restore of a damaged backup names the damage and changes nothing, and the next backup archives it again", async () => {
  await withEngine(world, async (harness) => {
    const request = await prepare(restoringBackup);
    const { companyId, input } = request;
    const packs = join(world.facts.dataFolder, "archives", "packs", companyId);
    for (const name of await readdir(packs)) {
      const content = await readFile(join(packs, name));
      content.writeUInt8(content.readUInt8(content.length >> 1) ^ 1, content.length >> 1);
      await writeFile(join(packs, name), content);
    }
    const row = await harness.submit(request);
    expect(row.public_error).toMatch(/^This backup can't be restored: what it needs for .+ is missing or damaged\.$/);
    expect(await restoringBackup.undone(world, request)).toEqual([]);
    if (typeof input !== "object" || input === null || !("target" in input)) throw new Error("It has no target");
    const next = await harness.submit({
      ...request,
      kind: "addManualBackup",
      input: { ...input, environment: input.target ?? null, note: null },
    });
    expect(next).toMatchObject({ state: "succeeded" });
    const kept = await findNewestBackup(world.own.database, request.environmentId ?? "");
    if (kept === null) throw new Error("There is no backup");
    const restored = await world.services.archives.workFolder("restored");
    await world.services.archives.restore(kept, restored, () => true, signal);
    await world.services.archives.removeWorkFolder("restored");
  });
});

test("an interrupted listing marks no pack as lost", async () => {
  blobs.plan(noFaults);
  const site = await liveSite(world);
  await backUpNow(site);
  blobs.plan(failingOnce("list", 1, unreachable));
  await expect(backUpNow(site)).rejects.toThrow("can't be reached");
  const lost = world.own.database.selectFrom("packs").select("id").where("company_id", "=", site.companyId);
  expect(await lost.where("state", "=", "lost").execute()).toEqual([]);
});

describe("a missing or different store", () => {
  /** Returns the world with its store guarded, as in a control process. */
  function guarded(storeKey = key): World {
    const place = join(world.facts.dataFolder, "archives");
    const blobs = openFolderBlobs(place);
    const isThere = () => archiveFolderExists({ kind: "folder", folder: place });
    return withGuardedStore(world, { blobs, key: storeKey, place: "the folder archives", isThere });
  }

  /** Returns the company's lost packs and damaged backups. */
  async function damageOf({ companyId }: OperationRequest): Promise<readonly unknown[]> {
    const { database } = world.own;
    const packs = database.selectFrom("packs").select("id").where("company_id", "=", companyId);
    const backups = database.selectFrom("backups").select("id").where("company_id", "=", companyId);
    const lost = await packs.where("state", "=", "lost").execute();
    return [...lost, ...(await backups.where("damage", "is not", null).execute())];
  }

  const saysMissing =
    /^The archive store is missing, or is not the one that holds the backups\. The operator finds the cause in the log under/;

  test("is not mistaken for an empty store: nothing is stored in it, and no backup is marked as damaged", async () => {
    blobs.plan(noFaults);
    const place = join(world.facts.dataFolder, "archives");
    const its = guarded();
    await withEngine(its, async (harness) => {
      const restoring = await restoringBackup.prepare(its);
      const backingUpNow = await prepare(backingUp);
      await rename(place, `${place}-unmounted`);
      await mkdir(place);
      for (const request of [restoring, backingUpNow]) {
        expect(await harness.submit(request)).toMatchObject({
          state: "failed",
          public_error: expect.stringMatching(saysMissing),
        });
      }
      expect(await readdir(place)).toEqual([]);
      await expect(its.services.archives.removePack({ id: "a", companyId: "b" })).rejects.toThrow("Is it mounted");
      expect(await damageOf(restoring)).toEqual([]);
      await rm(place, { recursive: true });
      await rename(`${place}-unmounted`, place);
      expect(await harness.submit(again(restoring))).toMatchObject({ state: "succeeded" });
      expect(await harness.submit(again(backingUpNow))).toMatchObject({ state: "succeeded" });
    });
  });

  test("is not used with a key other than the backups', to which all of them would look damaged", async () => {
    const requests: OperationRequest[] = [];
    const place = join(world.facts.dataFolder, "archives");
    await withEngine(guarded(), async (harness) => {
      requests.push(await prepare(restoringBackup), await prepare(testingBackup), await prepare(backingUp));
      expect(await harness.submit(await prepare(backingUp))).toMatchObject({ state: "succeeded" });
    });
    const packs = await readdir(place, { recursive: true });
    const its = guarded(randomBytes(32));
    await withEngine(its, async (harness) => {
      for (const request of requests) {
        const { state, public_error } = await harness.submit(request);
        expect([state, public_error]).toEqual([
          "failed",
          expect.stringMatching(/^The archive key is missing, or is not the one that the backups are encrypted with/),
        ]);
        expect(await damageOf(request)).toEqual([]);
      }
    });
    const { database } = world.own;
    const pause = async () => undefined;
    await database
      .updateTable("packs")
      .set({ read_at: new Date(0) })
      .execute();
    await readArchives({ database, archives: its.services.archives, days: 7, signal, pause }).catch(() => undefined);
    for (const request of requests) expect(await damageOf(request)).toEqual([]);
    expect(await readdir(place, { recursive: true })).toEqual(packs);
    await withEngine(guarded(), async (harness) => {
      for (const request of requests)
        expect(await harness.submit(again(request))).toMatchObject({ state: "succeeded" });
    });
  });

  test("is used if the operator wants it: the old backups are marked as damaged until the old store is back", async () => {
    const { database } = world.own;
    const site = await liveSite(world);
    const backup = await backUpNow(site);
    const memory = storeMemory(database);
    const { place, mark } = await memory.recall();
    const damage = async () =>
      (await database.selectFrom("backups").select("damage").where("id", "=", backup.id).executeTakeFirstOrThrow())
        .damage;
    await memory.startFromScratch("elsewhere", keyCheckOf(key, mark));
    expect(await damage()).not.toBe(null);
    await memory.remember(place ?? "");
    const { archives } = world.services;
    const verify = () => readArchives({ database, archives, days: 7, signal, pause: async () => undefined });
    await expect.poll(async () => verify().then(damage), { timeout: 30_000 }).toBe(null);
  });
});

test("an operation on a store that never responds ends with the reason", async () => {
  const silent = createServer(() => undefined).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const address = silent.address();
  const port = typeof address === "object" ? address?.port : "";
  const stalled = openS3Blobs(
    {
      endpoint: `http://127.0.0.1:${port}`,
      bucket: "archives",
      prefix: "",
      region: null,
      accessKeyId: "AKIAEXAMPLE",
      secretAccessKey: "not-to-be-seen",
    },
    { pauses: [0, 0], pause: async () => undefined, tryTime: () => AbortSignal.timeout(20) },
  );
  const stalledWorld = withStore(world, stalled, key);
  await withEngine(stalledWorld, async (harness) => {
    const request = await prepare(backingUp);
    const row = await harness.submit(request);
    expect(row.public_error).toMatch(/^The archive store takes too long to answer\. The operator finds/);
    expect(await backingUp.undone(stalledWorld, request)).toEqual([]);
  });
  silent.closeAllConnections();
  silent.close();
});
