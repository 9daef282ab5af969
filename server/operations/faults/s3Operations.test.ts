/**
 * Operations with their archives in a bucket of a real S3 server, which may refuse, hang or break off at any request: they
 * continue if the fault is temporary, and otherwise fail with the reason, leave nothing behind and mark no backup as damaged.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Blobs } from "../../archives/blobs.ts";
import { openS3Blobs } from "../../archives/s3Blobs.ts";
import { type S3Fault, type S3Proxy, s3Faults, startS3Proxy } from "../../archives/testing/s3Proxy.ts";
import { type S3Server, startS3Server } from "../../archives/testing/s3Server.ts";
import { expireBackups } from "../../reconcilers/expireBackups.ts";
import { backedUpSite, backingUp, removingBackup, restoringBackup } from "../../testing/backups.ts";
import { askAgain, restoringDeletedSite } from "../../testing/deleted.ts";
import { downloadRequest, makingDownload } from "../../testing/downloads.ts";
import { deletingSite } from "../../testing/sites.ts";
import { testingBackup } from "../../testing/testRestores.ts";
import { withEngine } from "../../testing/withEngine.ts";
import { withGuardedStore } from "../../testing/withStore.ts";
import { forgetSites, makeWorld, type World } from "../../testing/world.ts";
import type { OperationRequest } from "../engine/accept.ts";
import type { Harness, Subject } from "./testing/crashHarness.ts";

let server: S3Server;
let proxy: S3Proxy;
let made: World;
beforeAll(async () => {
  server = await startS3Server();
  proxy = await startS3Proxy(server.place("").endpoint);
  made = await makeWorld();
});
afterAll(async () => {
  await made[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await server.stop();
});
beforeEach(() => proxy.plan(() => null));
afterEach(() => forgetSites(made));

const key = randomBytes(32);
const { signal } = new AbortController();
const day = 86_400_000;

const directBlobs = (): Blobs => openS3Blobs(server.place("archives/"));

function withS3(blobs: Blobs): World {
  return withGuardedStore(made, { blobs, key, place: "a bucket", isThere: async () => true });
}

/** Returns a world that reaches the bucket through the proxy and retries each failed request this many times. */
function withRetries(retries: number): World {
  const place = { ...server.place("archives/"), endpoint: proxy.endpoint };
  return withS3(openS3Blobs(place, proxy.patience(retries)));
}

/** Returns the company's lost packs, damaged backups and failed test restores. */
async function damageOf({ companyId }: OperationRequest): Promise<readonly unknown[]> {
  const { database } = made.own;
  const packs = database.selectFrom("packs").select("id").where("company_id", "=", companyId);
  const backups = database.selectFrom("backups").select(["damage", "proof_error"]).where("company_id", "=", companyId);
  const lost = await packs.where("state", "=", "lost").execute();
  return [...lost, ...(await backups.execute()).filter((row) => row.damage !== null || row.proof_error !== null)];
}

test("a backup is made, restored, test-restored and removed in a bucket, and its unshared packs are then removed", async () => {
  const world = withS3(directBlobs());
  const packsOf = async ({ companyId }: OperationRequest) =>
    (await directBlobs().list(`packs/${companyId}`, signal)).size;
  await withEngine(world, async (harness) => {
    for (const subject of [backingUp, restoringBackup, testingBackup, removingBackup]) {
      const request = await subject.prepare(world);
      expect(await harness.submit(request)).toMatchObject({ state: "succeeded", public_error: null });
      expect([await subject.finished(world, request), await damageOf(request)]).toEqual([[], []]);
      expect(await packsOf(request)).toBeGreaterThan(0);
      if (subject !== removingBackup) continue;
      const { database } = world.own;
      for (const days of [2, 4]) {
        await expireBackups({ database, archives: world.services.archives, now: () => Date.now() + days * day });
      }
      expect(await packsOf(request)).toBe(0);
    }
  });
});

/** A download of a backup instead of the current site. */
const downloadingBackup: Subject = {
  ...makingDownload,
  prepare: async (world) => {
    const { site, backup } = await backedUpSite(world);
    const request = await downloadRequest(world, site, { id: backup.id, name: "Then" });
    repeats.set(request, () => downloadRequest(world, site, { id: backup.id, name: "Then" }));
    return request;
  },
};

/** Creates the request for another attempt, for operations that need more than the same request. */
const repeats = new WeakMap<OperationRequest, () => Promise<OperationRequest>>();

/** Repeats a failed operation. Returns the problems. */
async function runAgain(
  harness: Harness,
  world: World,
  subject: Subject,
  request: OperationRequest,
): Promise<string[]> {
  const { input, kind } = request;
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const fresh = isObject && "token" in input ? { ...request, input: { ...input, token: randomUUID() } } : request;
  const repeated = kind === restoringDeletedSite.kind ? await askAgain(world, request) : await repeats.get(request)?.();
  const { state, public_error } = await harness.submit(repeated ?? fresh);
  const wrong = state === "succeeded" ? [] : [`the next operation ${state}: ${public_error}`];
  return [...wrong, ...(await subject.finished(world, repeated ?? request))];
}

const subjects: Readonly<Record<string, Subject>> = {
  "a backup": backingUp,
  "a restore": restoringBackup,
  "a test restore": testingBackup,
  "a deletion": deletingSite,
  "a restore of a deleted site": restoringDeletedSite,
  "a download of a backup": downloadingBackup,
};

function faultAt(index: number): S3Fault {
  return s3Faults[index % s3Faults.length] ?? "drop";
}

/**
 * Runs the operation with a store that fails from this request on, and repeats it without faults if it failed. Returns
 * the problems.
 */
async function runWithout(harness: Harness, world: World, subject: Subject, from: number, fault: S3Fault) {
  proxy.plan(() => null);
  const request = await subject.prepare(world);
  proxy.plan((nth) => (nth < from ? null : fault));
  const row = await harness.submit(request);
  proxy.plan(() => null);
  const hasFailed = row.state !== "succeeded";
  const wrong = [...(await (hasFailed ? subject.undone : subject.finished)(world, request))];
  if (hasFailed && !/^The archive store .+ The operator finds/.test(row.public_error ?? "")) {
    wrong.push(`${row.state}: ${row.public_error}`);
  }
  wrong.push(...(await damageOf(request)).map((damage) => `damage: ${JSON.stringify(damage)}`));
  if (hasFailed) wrong.push(...(await runAgain(harness, world, subject, request)));
  await forgetSites(world);
  return { hasFailed, wrong: wrong.map((sentence) => `${fault} from request ${from} on: ${sentence}`) };
}

describe.each(Object.entries(subjects))("%s", (_, subject) => {
  test("succeeds if each request fails once", async () => {
    const world = withRetries(20);
    await withEngine(world, async (harness) => {
      for (const first of s3Faults.keys()) {
        proxy.plan(() => null);
        const request = await subject.prepare(world);
        let faults = 0;
        proxy.plan((_nth, isNew) => {
          if (!isNew) return null;
          faults += 1;
          return faultAt(first + faults);
        });
        expect(await harness.submit(request)).toMatchObject({ state: "succeeded", public_error: null });
        expect(faults).toBeGreaterThan(1);
        expect([await subject.finished(world, request), await damageOf(request)]).toEqual([[], []]);
      }
    });
  });

  test("fails with the reason and leaves nothing if the store fails for good, and works when the store is back", async () => {
    const world = withRetries(1);
    await withEngine(world, async (harness) => {
      const request = await subject.prepare(world);
      proxy.plan(() => null);
      expect(await harness.submit(request)).toMatchObject({ state: "succeeded" });
      const count = proxy.count();
      // With few requests, try every fault at each of them.
      const runs = Math.max(count, 2 * s3Faults.length);
      let failed = 0;
      for (let run = 0; run < runs; run += 1) {
        const fault = faultAt(run + Math.floor(run / count));
        const { hasFailed, wrong } = await runWithout(harness, world, subject, 1 + (run % count), fault);
        expect(wrong).toEqual([]);
        if (hasFailed) failed += 1;
      }
      expect(failed).toBeGreaterThan(runs / 2);
    });
  });
});
