import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Blobs } from "./blobs.ts";
import { openFolderBlobs } from "./folderBlobs.ts";
import { namingFailures } from "./namedFailures.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";
import { type BlobCall, failingOnce, makeFaultyBlobs } from "./testing/faultyBlobs.ts";
import { requireWritable } from "./writable.ts";

const { signal } = new AbortController();
const never = () => new Promise<never>(() => undefined);
const soon = 50;

let blobs: Blobs;
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), "swwritable-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  blobs = openFolderBlobs(folder);
});

async function probe(store: Blobs, milliseconds?: number): Promise<unknown> {
  return requireWritable(store, "probes/one", signal, milliseconds).catch((error: unknown) => error);
}

describe("requireWritable", () => {
  test("accepts a working store, repeatedly, and leaves nothing behind", async () => {
    for (let time = 0; time < 2; time += 1) expect(await probe(blobs)).toBeUndefined();
    expect(await blobs.list("probes", signal)).toEqual(new Map());
  });

  test.each(["put", "read", "list"] as const)("rejects with the store's error if %s fails", async (call) => {
    const error = new ObjectStoreFailure("The archive store is full. Free up space in it.", { isTransient: false });
    const faulty = makeFaultyBlobs(blobs);
    faulty.plan(failingOnce(call, 1, () => error));
    expect(await probe(faulty)).toBe(error);
    expect(await blobs.list("probes", signal)).toEqual(new Map());
  });

  test("accepts a store that only forbids removals", async () => {
    const faulty = makeFaultyBlobs(blobs);
    faulty.plan(failingOnce("remove", 1, () => new Error("Not allowed")));
    expect(await probe(faulty)).toBeUndefined();
  });

  test.each([
    ["forgets", { list: async () => new Map() }],
    ["changes", { read: async () => Buffer.alloc(64 << 10) }],
  ] as const)("rejects a store that %s what was put into it", async (_, change) => {
    expect(await probe({ ...blobs, ...change })).toMatchObject({
      summary: "The archive store loses data.",
    });
  });

  test.each(["put", "read", "list"] as const)("times out if %s hangs, even if it ignores the signal", async (call) => {
    const error = await probe({ ...blobs, [call]: never }, soon);
    expect(error).toBeInstanceOf(ObjectStoreFailure);
    expect(error).toMatchObject({ summary: "The archive store takes too long to answer.", isTransient: false });
  });

  test.each(["read", "list"] as const)("leaves nothing behind if %s hangs until it is aborted", async (call) => {
    const hanging = (given: AbortSignal) =>
      new Promise<never>((_, reject) => given.addEventListener("abort", () => reject(given.reason)));
    const change: Pick<Blobs, "read" | "list"> = {
      read: (_name, _start, _length, given) => hanging(given),
      list: (_folder, given) => hanging(given),
    };
    expect(await probe({ ...blobs, [call]: change[call] }, soon)).toBeInstanceOf(ObjectStoreFailure);
    await expect.poll(() => blobs.list("probes", signal)).toEqual(new Map());
  });

  test("rejects with the reason of an abort", async () => {
    const work = requireWritable({ ...blobs, put: never }, "probes/one", AbortSignal.abort(new Error("Given up")));
    await expect(work).rejects.toThrow("Given up");
  });
});

describe("failures of a folder", () => {
  const coded = (code: string) => Object.assign(new Error(`${code}: /srv/archives`), { code });

  test.each([
    ["ENOSPC", "The archives' disk is full. Free up space on it."],
    ["EDQUOT", "The archives' disk is full. Free up space on it."],
    ["EROFS", "The archive folder can't be used"],
    ["EACCES", "The archive folder can't be used"],
    ["ENOTDIR", "The archive folder is missing, or there is something else at its path."],
    ["EIO", "The archives' disk is failing."],
  ])("%s has a summary without the place, and a message for the log with it", async (code, summary) => {
    const faulty = makeFaultyBlobs(blobs);
    const calls: Record<BlobCall, (store: Blobs) => Promise<unknown>> = {
      put: (store) => store.put("packs/one", Buffer.from("x"), signal),
      read: (store) => store.read("packs/one", 0, 1, signal),
      list: (store) => store.list("packs", signal),
      remove: (store) => store.remove("packs/one"),
    };
    for (const call of ["put", "read", "list", "remove"] as const) {
      faulty.plan(failingOnce(call, 1, () => coded(code)));
      const error = await calls[call](namingFailures(faulty)).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ObjectStoreFailure);
      expect(error).toMatchObject({
        summary: expect.stringContaining(summary),
        message: expect.stringContaining("/srv"),
      });
      expect(error).not.toMatchObject({ summary: expect.stringContaining("/srv") });
    }
  });

  test.each([coded("EMFILE"), coded("ABORT_ERR"), new Error("Anything else")])("%s is not changed", async (error) => {
    const faulty = makeFaultyBlobs(blobs);
    faulty.plan(failingOnce("put", 1, () => error));
    await expect(namingFailures(faulty).put("packs/one", Buffer.from("x"), signal)).rejects.toBe(error);
  });
});
