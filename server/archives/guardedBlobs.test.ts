/** Which stores are used, and which are refused because backups are elsewhere. */
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isPlaceThere } from "../archiveUrl.ts";
import { openFolderBlobs } from "./folderBlobs.ts";
import { guardBlobs, type StoreMemory } from "./guardedBlobs.ts";

const { signal } = new AbortController();
const pack = Buffer.from("pack");

/** What a database would remember. */
function makeMemory(kept: readonly string[] = []): StoreMemory & { readonly told: string[] } {
  let place: string | null = null;
  const told: string[] = [];
  return {
    told,
    recall: async () => ({ mark: "c0ffee", place }),
    remember: async (now) => {
      told.push(`remember ${now}`);
      place = now;
    },
    beginAnew: async (now) => {
      told.push(`begin ${now}`);
      place = now;
    },
    someKept: async () => kept,
  };
}

async function makeFolder() {
  const root = await mkdtemp(join(tmpdir(), "swguard-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const warnings: string[] = [];
  const open = (name: string, memory: StoreMemory) => {
    const folder = join(root, name);
    return guardBlobs({
      blobs: openFolderBlobs(folder),
      memory,
      place: name,
      isThere: () => isPlaceThere({ kind: "folder", folder }),
      onNewStore: (sentence) => warnings.push(sentence),
    });
  };
  return { root, open, warnings };
}

test("a store is marked when it is used first, and is the right one from then on", async () => {
  const { root, open } = await makeFolder();
  const memory = makeMemory();
  await open("one", memory).put("packs/a", pack, signal);
  expect((await readdir(join(root, "one"))).toSorted()).toEqual(["installations", "packs"]);
  const again = open("one", memory);
  expect(await again.read("packs/a", 0, 4, signal)).toEqual(pack);
  expect(await again.list("packs", signal)).toEqual(new Map([["packs/a", 4]]));
  expect(memory.told).toEqual(["remember one"]);
});

test("a store that vanishes is not taken for one that has lost everything", async () => {
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
      summary: "The archive store is not there, or is another one than backups were kept in.",
    });
  }
  expect(await readdir(join(root, "one"))).toEqual([]);
  await rm(join(root, "one"), { recursive: true });
  await rename(join(root, "unmounted"), join(root, "one"));
  expect(await blobs.read("packs/a", 0, 4, signal)).toEqual(pack);
});

test("what is missing in the right store is missing", async () => {
  const { open } = await makeFolder();
  const blobs = open("one", makeMemory());
  await expect(blobs.read("packs/a", 0, 4, signal)).rejects.toMatchObject({ name: "BlobMissing" });
});

test("another address is refused where there is nothing, and is a new archive where somebody has made the folder", async () => {
  const { root, open, warnings } = await makeFolder();
  const memory = makeMemory();
  await open("one", memory).put("packs/a", pack, signal);
  await expect(open("mistyped", memory).put("packs/b", pack, signal)).rejects.toThrow(
    "There is no folder at mistyped. Until now backups were kept in one. Is the address right?",
  );
  await expect(open("one", memory).check(signal)).resolves.toBeUndefined();
  await mkdir(join(root, "two"));
  await open("two", memory).put("packs/b", pack, signal);
  expect(warnings).toEqual([
    expect.stringContaining("Backups are kept in two from now on. Those made until now are in one"),
  ]);
  await open("one", memory).check(signal);
  expect(memory.told).toEqual(["remember one", "begin two", "remember one"]);
  expect(warnings).toHaveLength(1);
});

test("a store that was moved as it is, is the same store", async () => {
  const { root, open, warnings } = await makeFolder();
  const memory = makeMemory();
  await open("one", memory).put("packs/a", pack, signal);
  await rename(join(root, "one"), join(root, "two"));
  expect(await open("two", memory).read("packs/a", 0, 4, signal)).toEqual(pack);
  expect([memory.told, warnings]).toEqual([["remember one", "remember two"], []]);
});

test("a store that was used before there were marks is marked where something of it is there", async () => {
  const { root, open } = await makeFolder();
  const memory = makeMemory(["packs/gone", "packs/a"]);
  await mkdir(join(root, "one"));
  await expect(open("one", memory).check(signal)).rejects.toThrow("None of the backups that were kept is in one.");
  expect(await readdir(join(root, "one"))).toEqual([]);
  await openFolderBlobs(join(root, "one")).put("packs/a", pack, signal);
  await open("one", memory).check(signal);
  expect(memory.told).toEqual(["remember one"]);
});

test("two installations may have the same store, and each has its own mark", async () => {
  const { open } = await makeFolder();
  await open("one", makeMemory()).check(signal);
  const other = { ...makeMemory(), recall: async () => ({ mark: "decade", place: "one" }) };
  await expect(open("one", other).check(signal)).rejects.toThrow("installations/decade is missing");
});
