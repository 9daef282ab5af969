import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openArchives } from "./archives.ts";
import { openFolderBlobs } from "./folderBlobs.ts";
import { createMemoryIndex } from "./testing/memoryIndex.ts";

const { signal } = new AbortController();

async function makeWorld() {
  const root = await mkdtemp(join(tmpdir(), "swarchives-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [index, place] = [createMemoryIndex(), join(root, "archives")];
  const blobs = openFolderBlobs(place);
  const options = { blobs, key: randomBytes(32), indexOf: () => index, work: join(root, "work"), removeFolder };
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

test("what is kept comes back, and only with the key", async () => {
  const { archives, options, filled, root } = await makeWorld();
  const kept = { ...backup, ...(await archives.keep(backup, await filled("one", "hello"), null, signal)) };
  await archives.restore(kept, join(root, "restored"), all, signal);
  expect(await readFile(join(root, "restored", "a.txt"), "utf8")).toBe("hello");
  const stranger = openArchives({ ...options, key: randomBytes(32) });
  await expect(stranger.restore(kept, join(root, "other"), all, signal)).rejects.toThrow("can't be restored");
});

test("a backup does not rely on what was taken from the store, though an earlier one did", async () => {
  const { archives, filled, root, packs } = await makeWorld();
  const folder = await filled("one", randomBytes(100_000));
  const first = { ...backup, ...(await archives.keep(backup, folder, null, signal)) };
  for (const name of await readdir(packs)) await rm(join(packs, name));
  const second = { ...backup, ...(await archives.keep(backup, folder, first, signal)) };
  expect(second.addedBytes).toBeGreaterThan(100_000);
  await archives.restore(second, join(root, "restored"), all, signal);
  expect((await stat(join(root, "restored", "a.txt"))).size).toBe(100_000);
});

test("what was found to be damaged is kept anew by the next backup, which can then be restored", async () => {
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

test("a pack is removed, also when it is not there", async () => {
  const { archives, filled, packs } = await makeWorld();
  await archives.keep(backup, await filled("one", "hello"), null, signal);
  const [id = ""] = await readdir(packs);
  for (let time = 0; time < 2; time += 1) await archives.removePack({ id, companyId: "company" });
  expect(await readdir(packs)).toEqual([]);
});

test("a folder to work in is empty each time, and nobody else's", async () => {
  const { archives, filled, root } = await makeWorld();
  const folder = await filled("one", "x");
  expect(await archives.workFolder("one")).toBe(folder);
  await expect(stat(folder)).rejects.toThrow();
  expect((await stat(join(root, "work"))).mode & 0o077).toBe(0);
  await mkdir(`${folder}.new`);
  await archives.removeWorkFolder("one");
  expect(await readdir(join(root, "work"))).toEqual([]);
  await expect(archives.workFolder("../x")).rejects.toThrow("Not a name");
});
