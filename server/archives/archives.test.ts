import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fixedKeys } from "../keyFile.ts";
import { openArchives } from "./archives.ts";
import { openFolderBlobs } from "./folderBlobs.ts";
import { createMemoryIndex } from "./testing/memoryIndex.ts";

const { signal } = new AbortController();

async function makeWorld() {
  const root = await mkdtemp(join(tmpdir(), "swarchives-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [index, place] = [createMemoryIndex(), join(root, "archives")];
  const blobs = openFolderBlobs(place);
  const options = {
    blobs,
    keys: fixedKeys(randomBytes(32)),
    indexOf: () => index,
    work: join(root, "work"),
    removeFolder,
  };
  const archives = openArchives(options);
  const filled = async (name: string, content: string | Buffer) => {
    const folder = await archives.workFolder(name);
    await mkdir(folder);
    await writeFile(join(folder, "a.txt"), content);
    return folder;
  };
  const packs = join(place, "packs", "company");
  return { archives, options, index, filled, root, packs };
}

const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true });
const backup = { id: 1, companyId: "company" };
const all = () => true;

test("a backup can be restored, but only with the key", async () => {
  const { archives, options, filled, root } = await makeWorld();
  const kept = { ...backup, ...(await archives.keep(backup, await filled("one", "hello"), null, signal)) };
  await archives.restore(kept, join(root, "restored"), all, signal);
  expect(await readFile(join(root, "restored", "a.txt"), "utf8")).toBe("hello");
  const withOtherKey = openArchives({ ...options, keys: fixedKeys(randomBytes(32)) });
  await expect(withOtherKey.restore(kept, join(root, "other"), all, signal)).rejects.toThrow("can't be restored");
});

test("a backup does not rely on packs that are missing from the store", async () => {
  const { archives, filled, root, packs } = await makeWorld();
  const folder = await filled("one", randomBytes(100_000));
  const first = { ...backup, ...(await archives.keep(backup, folder, null, signal)) };
  for (const name of await readdir(packs)) await rm(join(packs, name));
  const second = { ...backup, ...(await archives.keep(backup, folder, first, signal)) };
  expect(second.addedBytes).toBeGreaterThan(100_000);
  await archives.restore(second, join(root, "restored"), all, signal);
  expect((await stat(join(root, "restored", "a.txt"))).size).toBe(100_000);
});

test("the next backup stores damaged data again and can be restored", async () => {
  const { archives, filled, root, packs } = await makeWorld();
  const folder = await filled("one", randomBytes(100_000));
  const first = { ...backup, ...(await archives.keep(backup, folder, null, signal)) };
  const [pack = ""] = await readdir(packs);
  const content = await readFile(join(packs, pack));
  content.writeUInt8(content.readUInt8(50_000) ^ 1, 50_000);
  await writeFile(join(packs, pack), content);
  await expect(archives.restore(first, join(root, "never"), all, signal)).rejects.toThrow("a.txt");
  const second = { ...backup, ...(await archives.keep(backup, folder, first, signal)) };
  await archives.restore(second, join(root, "restored"), all, signal);
  expect(await readFile(join(root, "restored", "a.txt"))).toEqual(await readFile(join(folder, "a.txt")));
});

/** Flips one bit inside the file. */
async function flip(file: string): Promise<void> {
  const content = await readFile(file);
  content.writeUInt8(content.readUInt8(50_000) ^ 1, 50_000);
  await writeFile(file, content);
}

const reading = { days: 7, milliseconds: Infinity, moreMilliseconds: 1_000 };
const longAgo = new Date(0);
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

test("a backup does not reuse a pack that has been damaged since it was written", async () => {
  const { archives, filled, root, packs, index } = await makeWorld();
  const folder = await filled("one", randomBytes(100_000));
  const first = { ...backup, ...(await archives.keep(backup, folder, null, signal)) };
  const [pack = ""] = await readdir(packs);
  await flip(join(packs, pack));
  index.readAt.set(pack, hoursAgo(2));
  const second = { ...backup, ...(await archives.keep(backup, folder, first, signal)) };
  expect(second.addedBytes).toBeGreaterThan(100_000);
  expect([...(await index.neededPacks()).keys()]).not.toContain(pack);
  await archives.restore(second, join(root, "restored"), all, signal);
  expect(await readFile(join(root, "restored", "a.txt"))).toEqual(await readFile(join(folder, "a.txt")));
});

test.each([
  ["within the hour", () => hoursAgo(0.9), 1_000, false],
  ["recently, without extra time", () => hoursAgo(2), 0, false],
  ["recently, with extra time", () => hoursAgo(2), 1_000, true],
  ["long ago, without extra time", () => longAgo, 0, true],
  ["in the future", () => new Date(Date.now() + 60_000), 0, true],
])("whether damage is found in a pack that was last read %s", async (_, readAt, moreMilliseconds, isFound) => {
  const { archives, filled, packs, index } = await makeWorld();
  const folder = await filled("one", randomBytes(100_000));
  const first = { ...backup, ...(await archives.keep(backup, folder, null, signal)) };
  const [pack = ""] = await readdir(packs);
  await flip(join(packs, pack));
  index.readAt.set(pack, readAt());
  const { addedBytes } = await archives.keep(backup, folder, first, signal, { ...reading, moreMilliseconds });
  expect(addedBytes > 100_000).toBe(isFound);
});

test("reading a pack again is recorded", async () => {
  const { archives, filled, packs, index } = await makeWorld();
  const folder = await filled("one", randomBytes(100_000));
  const first = { ...backup, ...(await archives.keep(backup, folder, null, signal)) };
  const [pack = ""] = await readdir(packs);
  index.readAt.set(pack, longAgo);
  await archives.keep(backup, folder, first, signal, { ...reading, moreMilliseconds: 0 });
  expect(index.readAt.get(pack)?.getTime()).toBeGreaterThan(Date.now() - 60_000);
});

test("a bit flipped in transit does no harm", async () => {
  const { archives, options, filled, root } = await makeWorld();
  const kept = { ...backup, ...(await archives.keep(backup, await filled("one", "hello"), null, signal)) };
  let times = 0;
  const flaky = openArchives({
    ...options,
    blobs: {
      ...options.blobs,
      read: async (...given) => {
        const content = Buffer.from(await options.blobs.read(...given));
        times += 1;
        if (times % 2 === 1) content.writeUInt8(content.readUInt8(20) ^ 1, 20);
        return content;
      },
    },
  });
  await flaky.restore(kept, join(root, "restored"), all, signal);
  expect(await readFile(join(root, "restored", "a.txt"), "utf8")).toBe("hello");
  expect(await flaky.examine(kept, signal)).toBe(null);
});

test("examining a backup reports missing data until it is stored again", async () => {
  const { archives, filled, packs, index } = await makeWorld();
  const folder = await filled("one", randomBytes(100_000));
  const first = { ...backup, ...(await archives.keep(backup, folder, null, signal)) };
  expect(await archives.examine(first, signal)).toBe(null);
  const [pack = ""] = await readdir(packs);
  await flip(join(packs, pack));
  const pieces = await index.piecesIn(pack);
  expect(await archives.readPack({ id: pack, companyId: "company", pieces }, signal)).toBe(false);
  await index.markLost([pack]);
  expect(await archives.examine(first, signal)).toMatch(/for (a\.txt|its list of files) is missing or damaged\.$/);
  await archives.keep(backup, folder, null, signal);
  expect(await archives.examine(first, signal)).toBe(null);
});

test("a backup can still use the intact pieces of a lost pack", async () => {
  const { archives, filled, packs, index } = await makeWorld();
  const kept = { ...backup, ...(await archives.keep(backup, await filled("one", "hello"), null, signal)) };
  const [pack = ""] = await readdir(packs);
  await index.markLost([pack]);
  expect(await archives.examine(kept, signal)).toBe(null);
  expect([...(await index.neededPacks()).keys()]).toEqual([pack]);
  await rm(join(packs, pack));
  expect(await archives.examine(kept, signal)).toMatch(/its list of files is missing or damaged/);
});

test("a pack that is added while the store is listed is not reported as missing", async () => {
  const { archives, options, filled, packs, index } = await makeWorld();
  await archives.keep(backup, await filled("one", "hello"), null, signal);
  // Lists synchronously at the time of the call.
  const list = async () => {
    const names = readdirSync(packs);
    return new Map(names.map((name) => [`packs/company/${name}`, statSync(join(packs, name)).size]));
  };
  const neededPacks = async () => {
    // As another backup does: the pack is in the store before it is needed.
    await writeFile(join(packs, "late"), "late");
    await index.addPack("late", 4, []);
    return index.neededPacks();
  };
  const racing = { ...options, blobs: { ...options.blobs, list }, indexOf: () => ({ ...index, neededPacks }) };
  expect(await openArchives(racing).isIntact(backup, signal)).toBe(true);
});

test("removing a pack also succeeds if it is missing", async () => {
  const { archives, filled, packs } = await makeWorld();
  await archives.keep(backup, await filled("one", "hello"), null, signal);
  const [id = ""] = await readdir(packs);
  for (let time = 0; time < 2; time += 1) await archives.removePack({ id, companyId: "company" });
  expect(await readdir(packs)).toEqual([]);
});

test("a work folder is new each time, and only its owner can read it", async () => {
  const { archives, filled, root } = await makeWorld();
  const folder = await filled("one", "x");
  expect(await archives.workFolder("one")).toBe(folder);
  await expect(stat(folder)).rejects.toThrow();
  expect((await stat(join(root, "work"))).mode & 0o077).toBe(0);
  await mkdir(`${folder}.new`);
  await archives.removeWorkFolder("one");
  expect(await readdir(join(root, "work"))).toEqual([]);
  await expect(archives.workFolder("../x")).rejects.toThrow("Invalid work folder name");
});
