/** Which stores are accepted, and which are refused because the backups are elsewhere. */

import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fixedKeys } from "../keyFile.ts";
import { archiveFolderExists } from "../settings/archiveUrl.ts";
import { openFolderBlobs } from "./folderBlobs.ts";
import { canCreateKey, guardBlobs, type SamplePiece, type StoreMemory } from "./guardedBlobs.ts";
import { makePieceBox } from "./pieceBox.ts";

const { signal } = new AbortController();
const pack = Buffer.from("pack");

const key = Buffer.alloc(32, "the right one");
const otherKey = Buffer.alloc(32, "another one");

/** A pack of one piece, sealed with the right key. */
function sealPack() {
  const box = makePieceBox(key, "company");
  const content = Buffer.from("a piece");
  const name = box.nameOf(content);
  const sealed = box.seal(content, name);
  const pieceIn = (blob: string): SamplePiece => ({
    blob,
    companyId: "company",
    name,
    start: 0,
    length: sealed.length,
  });
  return { sealed, pieceIn };
}

/** Stands in for the database. */
function makeMemory(kept: readonly SamplePiece[] = []): StoreMemory & { readonly calls: string[] } {
  let place: string | null = null;
  let keyCheck: Buffer | null = null;
  const calls: string[] = [];
  return {
    calls,
    recall: async () => ({ mark: "c0ffee", place, keyCheck }),
    rememberKey: async (now) => {
      keyCheck = now;
    },
    remember: async (now) => {
      calls.push(`remember ${now}`);
      place = now;
    },
    startFromScratch: async (now, check) => {
      calls.push(`begin ${now}`);
      [place, keyCheck] = [now, check];
    },
    sampleKeptPieces: async () => kept,
  };
}

async function makeFolder() {
  const root = await mkdtemp(join(tmpdir(), "swguard-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const warnings: string[] = [];
  const open = (name: string, memory: StoreMemory, withKey: Buffer | null = key) => {
    const folder = join(root, name);
    return guardBlobs({
      blobs: openFolderBlobs(folder),
      memory,
      keys: withKey && fixedKeys(withKey),
      place: name,
      isThere: () => archiveFolderExists({ kind: "folder", folder }),
      onNewStore: (sentence) => warnings.push(sentence),
    });
  };
  return { root, open, warnings };
}

test("a store is marked when it is first used, and recognized from then on", async () => {
  const { root, open } = await makeFolder();
  const memory = makeMemory();
  await open("one", memory).put("packs/a", pack, signal);
  expect((await readdir(join(root, "one"))).toSorted()).toEqual(["installations", "packs"]);
  const again = open("one", memory);
  expect(await again.read("packs/a", 0, 4, signal)).toEqual(pack);
  expect(await again.list("packs", signal)).toEqual(new Map([["packs/a", 4]]));
  expect(memory.calls).toEqual(["remember one"]);
});

test("a store that vanishes is not mistaken for one that has lost everything", async () => {
  const { root, open } = await makeFolder();
  const memory = makeMemory();
  const blobs = open("one", memory);
  await blobs.put("packs/a", pack, signal);
  await rename(join(root, "one"), join(root, "unmounted"));
  for (const emptied of [false, true]) {
    if (emptied) await mkdir(join(root, "one"));
    for (const each of [blobs, open("one", memory)]) {
      await expect(each.check(signal)).rejects.toThrow("The archives of this installation are not in one");
      await expect(each.list("packs", signal)).rejects.toThrow("Is it mounted");
      await expect(each.read("packs/a", 0, 4, signal)).rejects.toThrow("Is it mounted");
      await expect(each.remove("packs/a")).rejects.toThrow("Is it mounted");
    }
    await expect(open("one", memory).put("packs/b", pack, signal)).rejects.toMatchObject({
      name: "ObjectStoreFailure",
      isTransient: false,
      summary: "The archive store is missing, or is not the one that holds the backups.",
    });
  }
  expect(await readdir(join(root, "one"))).toEqual([]);
  await rm(join(root, "one"), { recursive: true });
  await rename(join(root, "unmounted"), join(root, "one"));
  expect(await blobs.read("packs/a", 0, 4, signal)).toEqual(pack);
});

test("a missing blob in the right store is reported as missing", async () => {
  const { open } = await makeFolder();
  const blobs = open("one", makeMemory());
  await expect(blobs.read("packs/a", 0, 4, signal)).rejects.toMatchObject({ name: "BlobMissing" });
});

test("another address is refused if the folder does not exist, and becomes a new archive if it does", async () => {
  const { root, open, warnings } = await makeFolder();
  const memory = makeMemory();
  await open("one", memory).put("packs/a", pack, signal);
  await expect(open("mistyped", memory).put("packs/b", pack, signal)).rejects.toThrow(
    "There is no folder at mistyped. Until now backups were in one. Check the address",
  );
  await expect(open("one", memory).check(signal)).resolves.toBeUndefined();
  await mkdir(join(root, "two"));
  await open("two", memory).put("packs/b", pack, signal);
  expect(warnings).toEqual([
    expect.stringContaining("New backups are stored in two from now on. Earlier ones are in one"),
  ]);
  await open("one", memory).check(signal);
  expect(memory.calls).toEqual(["remember one", "begin two", "remember one"]);
  expect(warnings).toHaveLength(1);
});

test("a store that was moved is the same store", async () => {
  const { root, open, warnings } = await makeFolder();
  const memory = makeMemory();
  await open("one", memory).put("packs/a", pack, signal);
  await rename(join(root, "one"), join(root, "two"));
  expect(await open("two", memory).read("packs/a", 0, 4, signal)).toEqual(pack);
  expect([memory.calls, warnings]).toEqual([["remember one", "remember two"], []]);
});

test("a store that was used before there were marks is marked if it contains known pieces", async () => {
  const { root, open } = await makeFolder();
  const { sealed, pieceIn } = sealPack();
  const memory = makeMemory([pieceIn("packs/gone"), pieceIn("packs/a")]);
  await mkdir(join(root, "one"));
  await expect(open("one", memory).check(signal)).rejects.toThrow("None of the existing backups is in one.");
  expect(await readdir(join(root, "one"))).toEqual([]);
  await openFolderBlobs(join(root, "one")).put("packs/a", sealed, signal);
  await expect(open("one", memory, otherKey).check(signal)).rejects.toThrow(
    "is not the one that the backups are encrypted with",
  );
  expect(await readdir(join(root, "one"))).toEqual(["packs"]);
  await open("one", memory).check(signal);
  expect(memory.calls).toEqual(["remember one"]);
});

test("two installations can share a store, each with its own mark", async () => {
  const { open } = await makeFolder();
  await open("one", makeMemory()).check(signal);
  const other = { ...makeMemory(), recall: async () => ({ mark: "decade", place: "one", keyCheck: null }) };
  await expect(open("one", other).check(signal)).rejects.toThrow("installations/decade is missing");
});

test.each([
  ["a wrong key", otherKey],
  ["no key", null],
])("with %s the store is refused, and with the right one it is usable again", async (_, wrong) => {
  const { open } = await makeFolder();
  const memory = makeMemory();
  await open("one", memory).put("packs/a", pack, signal);
  const blobs = open("one", memory, wrong);
  for (const use of [
    () => blobs.check(signal),
    () => blobs.put("packs/b", pack, signal),
    () => blobs.read("packs/a", 0, 4, signal),
    () => blobs.list("packs", signal),
    () => blobs.remove("packs/a"),
  ]) {
    await expect(use()).rejects.toMatchObject({
      name: "ObjectStoreFailure",
      isTransient: false,
      message: expect.stringContaining("archive-key in the folder secrets of the data folder"),
      summary: "The archive key is missing, or is not the one that the backups are encrypted with.",
    });
  }
  expect(await open("one", memory).list("packs", signal)).toEqual(new Map([["packs/a", 4]]));
});

test("if no key is recorded yet, the key that opens the backups is recorded", async () => {
  const { open } = await makeFolder();
  const { sealed, pieceIn } = sealPack();
  const before = makeMemory();
  await open("one", before).put("packs/a", sealed, signal);
  const memory = makeMemory([pieceIn("packs/gone"), pieceIn("packs/a")]);
  await memory.remember("one");
  await expect(open("one", memory, otherKey).list("packs", signal)).rejects.toThrow(
    "The archive key is missing, or is not",
  );
  expect((await memory.recall()).keyCheck).toBe(null);
  await open("one", memory).check(signal);
  expect((await memory.recall()).keyCheck).toEqual((await before.recall()).keyCheck);
});

test("no key is recorded if no sample piece is found", async () => {
  const { open } = await makeFolder();
  await open("one", makeMemory()).check(signal);
  const memory = makeMemory([sealPack().pieceIn("packs/gone")]);
  await memory.remember("one");
  await open("one", memory, otherKey).check(signal);
  expect((await memory.recall()).keyCheck).toBe(null);
});

test("after the key was lost for good, a new archive with a new key can be started elsewhere", async () => {
  const { root, open } = await makeFolder();
  const memory = makeMemory();
  const canCreate = (name: string) =>
    canCreateKey(memory, {
      place: name,
      isThere: () => archiveFolderExists({ kind: "folder", folder: join(root, name) }),
    });
  expect(await canCreate("one")).toBe(true);
  await open("one", memory).put("packs/a", pack, signal);
  expect(await canCreate("one")).toBe(false);
  expect(await canCreate("two")).toBe(false);
  await mkdir(join(root, "two"));
  expect(await canCreate("two")).toBe(true);
  await expect(open("two", memory, null).check(signal)).rejects.toThrow("The archive key is missing, or is not");
  expect(await readdir(join(root, "two"))).toEqual([]);
  await open("two", memory, otherKey).check(signal);
  await open("two", memory, otherKey).put("packs/b", pack, signal);
  await expect(open("two", memory).check(signal)).rejects.toThrow("The archive key is missing, or is not");
});

test("no key is created if there are backups from before their place was recorded", async () => {
  const existing = { place: "one", isThere: async () => true };
  expect(await canCreateKey(makeMemory([sealPack().pieceIn("packs/a")]), existing)).toBe(false);
});
