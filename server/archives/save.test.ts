/** Saving and loading folders: deduplication, unchanged files, changes during the backup, and damage. */
import { randomBytes } from "node:crypto";
import { appendFile, chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openFolderBlobs } from "./folderBlobs.ts";
import { load, loadManifest } from "./load.ts";
import type { FileEntry } from "./manifest.ts";
import { makePieceBox } from "./pieceBox.ts";
import { type Saved, save } from "./save.ts";
import { createMemoryIndex } from "./testing/memoryIndex.ts";
import { diskPath, listTree } from "./tree.ts";

const { signal } = new AbortController();

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "swsave-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function makeArchive() {
  const place = await freshFolder();
  const blobs = openFolderBlobs(place);
  const index = createMemoryIndex();
  const options = { blobs, index, box: makePieceBox(randomBytes(32), "company"), folder: "packs", signal };
  return {
    ...options,
    place,
    save: async (root: string, before = new Map<string, FileEntry>()) => save(root, { ...options, before }),
    filesOf: async ({ manifest }: Saved) => {
      const { files } = await loadManifest(manifest, options);
      return new Map(files.map((file) => [file.path, file]));
    },
    load: async ({ manifest }: Saved, isWanted: (path: string) => boolean = () => true) => {
      const root = join(await freshFolder(), "restored");
      await load(await loadManifest(manifest, options), root, isWanted, options);
      return root;
    },
  };
}

async function write(root: string, files: Readonly<Record<string, string | Buffer>>): Promise<string> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), content);
  }
  return root;
}

/** Everything that a backup preserves of a tree. */
async function contentOf(root: string) {
  const { folders, files } = await listTree(root);
  const all = files.map(async ({ path, mode, modified }) => {
    const content = await readFile(diskPath(root, path));
    return { path, mode, modified: Number(modified) / 1e9, content: content.toString("base64") };
  });
  return { folders, files: await Promise.all(all) };
}

async function expectSame(root: string, original: string): Promise<void> {
  const expected = await contentOf(original);
  // Times are restored to the microsecond, the precision of a number of seconds.
  const files = expected.files.map((file) => ({ ...file, modified: expect.closeTo(file.modified, 6) }));
  expect(await contentOf(root)).toEqual({ ...expected, files });
}

const large = randomBytes(2_500_000);

const example = {
  "index.php": "<?php",
  "empty.txt": "",
  "uploads/large.bin": large,
  "uploads/exact.bin": randomBytes(1 << 20),
  "uploads/deep/er/ünï 🌱.txt": "text",
};

test("a folder is restored with its files, empty folders, permissions and times", async () => {
  const root = await write(await freshFolder(), example);
  await mkdir(join(root, "empty"));
  await chmod(join(root, "index.php"), 0o640);
  await chmod(join(root, "uploads/deep"), 0o750);
  await utimes(join(root, "index.php"), 1_500_000_000.25, 1_500_000_000.25);
  await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xe9, 0xff])]), "no UTF-8");
  const archive = await makeArchive();
  const saved = await archive.save(root);
  expect(saved).toMatchObject({ files: 6, bytes: large.length + (1 << 20) + 17 });
  await expectSame(await archive.load(saved), root);
});

test("links are left out", async () => {
  const root = await write(await freshFolder(), { "a.txt": "a" });
  await symlink("/etc/hostname", join(root, "link"));
  const archive = await makeArchive();
  const restored = await archive.load(await archive.save(root));
  await expect(stat(join(restored, "link"))).rejects.toThrow();
  expect(await readFile(join(restored, "a.txt"), "utf8")).toBe("a");
});

test("the same content is stored once, across files and backups", async () => {
  const copies = { "a/one.bin": large, "b/two.bin": large, "three.bin": large };
  const archive = await makeArchive();
  const first = await archive.save(await write(await freshFolder(), copies));
  expect(first.addedBytes).toBeLessThan(large.length * 1.1);
  const second = await archive.save(await write(await freshFolder(), { ...copies, "four.bin": large }));
  expect(second.addedBytes).toBeLessThan(10_000);
  expect((await readFile(join(await archive.load(second), "four.bin"))).equals(large)).toBe(true);
});

test("a change in a large file adds only one piece", async () => {
  const root = await write(await freshFolder(), { "database.sqlite": randomBytes(12 << 20) });
  const archive = await makeArchive();
  const first = await archive.save(root);
  const content = await readFile(join(root, "database.sqlite"));
  content.write("changed", 5 << 20);
  await writeFile(join(root, "database.sqlite"), content);
  const second = await archive.save(root, await archive.filesOf(first));
  expect(second.addedBytes).toBeLessThan(1.1 * (1 << 20));
  const isContent = async (saved: Saved) =>
    (await readFile(join(await archive.load(saved), "database.sqlite"))).equals(content);
  expect([await isContent(first), await isContent(second)]).toEqual([false, true]);
});

test("unchanged files are not read again, unless their pieces are missing", async () => {
  const root = await write(await freshFolder(), example);
  const file = join(root, "index.php");
  const longAgo = 1_500_000_000;
  await utimes(file, longAgo, longAgo);
  const archive = await makeArchive();
  const first = await archive.save(root);
  const before = await archive.filesOf(first);
  // Other content with the same size and time, which only reading can detect.
  await writeFile(file, "<?PHP");
  await utimes(file, longAgo, longAgo);
  const contentIn = async (saved: Saved) => readFile(join(await archive.load(saved), "index.php"), "utf8");
  const second = await archive.save(root, before);
  expect(await contentIn(second)).toBe("<?php");
  expect(second.addedBytes).toBe(0);
  expect(await contentIn(await archive.save(root))).toBe("<?PHP");
  archive.index.pieces.clear();
  expect(await contentIn(await archive.save(root, before))).toBe("<?PHP");
});

test("a file that was changed just before it was read is read again in the next backup", async () => {
  const root = await write(await freshFolder(), { "counter.txt": "1" });
  const archive = await makeArchive();
  const before = await archive.filesOf(await archive.save(root));
  const { atime, mtime } = await stat(join(root, "counter.txt"));
  await writeFile(join(root, "counter.txt"), "2");
  await utimes(join(root, "counter.txt"), atime, mtime);
  const second = await archive.save(root, before);
  expect(await readFile(join(await archive.load(second), "counter.txt"), "utf8")).toBe("2");
});

test("large batches become packs, and small ones are combined, in any order", async () => {
  const archive = await makeArchive();
  const small = Array.from({ length: 600 }, (_, at) => [`a/${at}.txt`, randomBytes(3_000)] as const);
  const more = Array.from({ length: 300 }, (_, at) => [`c/${at}.txt`, randomBytes(3_000)] as const);
  const files = { ...Object.fromEntries(small), "b.bin": randomBytes(20_000_000), ...Object.fromEntries(more) };
  const root = await write(await freshFolder(), files);
  const saved = await archive.save(root);
  const sizes = [...archive.index.packs.values()].map((bytes) => bytes ?? 0).toSorted((a, b) => a - b);
  expect(sizes.length).toBeLessThan(7);
  expect(sizes.filter((bytes) => bytes < 4 << 20)).toHaveLength(1);
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBe(saved.addedBytes);
  await expectSame(await archive.load(saved), root);
});

test("setuid is not restored", async () => {
  const root = await write(await freshFolder(), { "run.sh": "#!/bin/sh" });
  await chmod(join(root, "run.sh"), 0o4755);
  const archive = await makeArchive();
  expect((await stat(join(await archive.load(await archive.save(root)), "run.sh"))).mode & 0o7777).toBe(0o755);
});

test("a part of a backup can be restored", async () => {
  const root = await write(await freshFolder(), {
    "public/a.txt": "a",
    "database/b.sqlite": "b",
    "release.json": "{}",
  });
  const archive = await makeArchive();
  const saved = await archive.save(root);
  const restored = await archive.load(saved, (path) => path === "database" || path.startsWith("database/"));
  expect((await listTree(restored)).files.map(({ path }) => path)).toEqual(["database/b.sqlite"]);
});

test("a folder that is being written to is saved with consistent files", async () => {
  const root = await write(await freshFolder(), { "log.txt": "line\n", "gone.txt": "gone", "shrinks.bin": large });
  const archive = await makeArchive();
  let isOver = false;
  const writing = (async () => {
    while (!isOver) await appendFile(join(root, "log.txt"), "line\n");
  })();
  for (let time = 0; time < 5; time += 1) {
    const restored = await archive.load(await archive.save(root));
    expect(await readFile(join(restored, "log.txt"), "utf8")).toMatch(/^(?:line\n)+$/);
  }
  isOver = true;
  await writing;
});

test.each([
  ["is missing", async (file: string) => rm(file)],
  ["is truncated", async (file: string) => writeFile(file, (await readFile(file)).subarray(0, -100))],
  [
    "has one flipped bit",
    async (file: string) => {
      const content = await readFile(file);
      content.writeUInt8(content.readUInt8(1000) ^ 1, 1000);
      await writeFile(file, content);
    },
  ],
])("if a pack %s, restoring names the damaged file, and other backups are not affected", async (_, damage) => {
  const archive = await makeArchive();
  const other = await archive.save(await write(await freshFolder(), { "other.txt": "other" }));
  const before = new Set(archive.index.packs.keys());
  const saved = await archive.save(await write(await freshFolder(), { "uploads/large.bin": large }));
  const [pack = ""] = [...archive.index.packs.keys()].filter((each) => !before.has(each));
  await damage(join(archive.place, "packs", pack));
  await expect(archive.load(saved)).rejects.toMatchObject({
    name: "BackupDamaged",
    message: expect.stringMatching(/uploads\/large\.bin|list of files/),
  });
  expect(await readFile(join(await archive.load(other), "other.txt"), "utf8")).toBe("other");
});

test("a store that returns other data is detected before a backup relies on it", async () => {
  const archive = await makeArchive();
  const root = await write(await freshFolder(), { "a.txt": "a" });
  const wrong = {
    ...archive.blobs,
    read: async (...parameters: Parameters<typeof archive.blobs.read>) => {
      const content = Buffer.from(await archive.blobs.read(...parameters));
      content[0] = (content[0] ?? 0) ^ 1;
      return content;
    },
  };
  await expect(save(root, { ...archive, blobs: wrong, before: new Map() })).rejects.toThrow(
    "does not return the data that was stored",
  );
  expect(archive.index.pieces.size).toBe(0);
});

test("save can be aborted, and reports a failing store", async () => {
  const archive = await makeArchive();
  const root = await write(await freshFolder(), example);
  await expect(save(root, { ...archive, signal: AbortSignal.abort(), before: new Map() })).rejects.toThrow("abort");
  const full = { ...archive.blobs, put: () => Promise.reject(new Error("no room")) };
  await expect(save(root, { ...archive, blobs: full, before: new Map() })).rejects.toThrow("no room");
});
