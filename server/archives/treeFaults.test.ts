/** Folders with unusual content, and changes while they are saved. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  appendFile,
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { asOtherUser } from "../testing/otherUser.ts";
import { openFolderBlobs } from "./folderBlobs.ts";
import { load, loadManifest } from "./load.ts";
import type { FileEntry } from "./manifest.ts";
import { makePieceBox } from "./pieceBox.ts";
import type { PieceIndex } from "./pieceIndex.ts";
import { type Saved, save } from "./save.ts";
import { createMemoryIndex } from "./testing/memoryIndex.ts";
import { diskPath, listTree } from "./tree.ts";

const { signal } = new AbortController();

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "swtree-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function makeArchive() {
  const index = createMemoryIndex();
  const blobs = openFolderBlobs(await freshFolder());
  const options = { blobs, index, box: makePieceBox(randomBytes(32), "company"), folder: "packs", signal };
  return {
    index,
    save: (root: string, before = new Map<string, FileEntry>(), seen: PieceIndex = index) =>
      save(root, { ...options, index: seen, before }),
    load: async ({ manifest }: Saved) => {
      const root = join(await freshFolder(), "restored");
      await load(await loadManifest(manifest, options), root, () => true, options);
      return root;
    },
    filesOf: async ({ manifest }: Saved) => {
      const { files } = await loadManifest(manifest, options);
      return new Map(files.map((file) => [file.path, file]));
    },
  };
}

async function contentsOf(root: string): Promise<ReadonlyMap<string, string>> {
  const { files } = await listTree(root);
  const contents = new Map<string, string>();
  for (const { path } of files) contents.set(path, (await readFile(diskPath(root, path))).toString("base64"));
  return contents;
}

test("any name that a file system allows is preserved", async () => {
  const root = await freshFolder();
  const names = [
    "new\nline",
    "carriage\rreturn",
    '"quoted" \\ and \\n',
    "-rf",
    " ",
    "...",
    "ends with a space ",
    "e\u0301 is not \u00e9",
    "\u{1f331}",
    "x".repeat(255),
    "\u0001\u007f",
    "__proto__",
  ].map((name) => Buffer.from(name));
  const bytes = [Buffer.from([0xff, 0xfe]), Buffer.from([0xc3]), Buffer.from([0xed, 0xa0, 0x80, 0x2e])];
  for (const [at, name] of [...names, ...bytes].entries()) {
    const folder = Buffer.concat([Buffer.from(`${root}/`), name]);
    await mkdir(folder);
    await writeFile(Buffer.concat([folder, Buffer.from("/"), name]), `${at}`);
  }
  const archive = await makeArchive();
  const saved = await archive.save(root);
  expect(saved.files).toBe(names.length + bytes.length);
  expect(await contentsOf(await archive.load(saved))).toEqual(await contentsOf(root));
});

test("very deep folders are preserved", async () => {
  const root = await freshFolder();
  const deep = Array.from({ length: 700 }, (_, at) => String(at % 10)).join("/");
  await mkdir(join(root, deep), { recursive: true });
  await writeFile(join(root, deep, "treasure"), "gold");
  const archive = await makeArchive();
  const restored = await archive.load(await archive.save(root));
  expect(await readFile(join(restored, deep, "treasure"), "utf8")).toBe("gold");
});

test("ten thousand small files are restored, and the next backup adds almost nothing", async () => {
  const root = await freshFolder();
  const longAgo = new Date("2020-01-01");
  for (let folder = 0; folder < 100; folder += 1) {
    await mkdir(join(root, `${folder}`));
    const files = Array.from({ length: 100 }, async (_, at) => {
      const file = join(root, `${folder}`, `${at}`);
      await writeFile(file, `${folder} ${at}`);
      await utimes(file, longAgo, longAgo);
    });
    await Promise.all(files);
  }
  const archive = await makeArchive();
  const first = await archive.save(root);
  expect(first.files).toBe(10_000);
  await writeFile(join(root, "50", "50"), "another");
  const second = await archive.save(root, await archive.filesOf(first));
  expect(second.addedBytes).toBeLessThan(first.addedBytes / 3);
  const restored = await archive.load(second);
  const factsOf = async (folder: string) => (await listTree(folder)).files.map(({ path, bytes }) => [path, bytes]);
  expect(await factsOf(restored)).toEqual(await factsOf(root));
  for (const folder of ["0", "50", "99"]) {
    expect(await contentsOf(join(restored, folder))).toEqual(await contentsOf(join(root, folder)));
  }
});

test("pipes, sockets and links are left out, and neither opened nor followed", async () => {
  const root = await freshFolder();
  await writeFile(join(root, "page.php"), "<?php");
  execFileSync("mkfifo", [join(root, "pipe")]);
  const socket = createServer().listen(join(root, "socket"));
  await once(socket, "listening");
  onTestFinished(() => void socket.close());
  await symlink("/etc", join(root, "folder-elsewhere"));
  await symlink("/etc/hostname", join(root, "file-elsewhere"));
  await symlink(".", join(root, "itself"));
  await symlink("nowhere", join(root, "dangling"));
  const archive = await makeArchive();
  const restored = await archive.load(await archive.save(root));
  expect([...(await contentsOf(restored)).keys()]).toEqual(["page.php"]);
  for (const name of ["pipe", "socket", "folder-elsewhere", "file-elsewhere", "itself", "dangling"]) {
    await expect(lstat(join(restored, name))).rejects.toThrow("ENOENT");
  }
});

test("files that vanish during the backup are left out, and those that shrink or grow are saved as found", async () => {
  const root = await freshFolder();
  // More files than one batch, so that the first claim happens before the last files are read.
  for (let at = 0; at < 1_200; at += 1) await writeFile(join(root, `a${at}`), `${at}`);
  const large = randomBytes(3 << 20);
  const change: Readonly<Record<string, (file: string) => Promise<void>>> = {
    "b-vanishes": (file) => rm(file),
    "b-shrinks": (file) => truncate(file, (1 << 20) + 5),
    "b-empties": (file) => truncate(file, 0),
    "b-grows": (file) => appendFile(file, "more"),
  };
  for (const name of Object.keys(change)) await writeFile(join(root, name), name === "b-vanishes" ? "small" : large);
  const archive = await makeArchive();
  let isChanged = false;
  const changing: PieceIndex = {
    ...archive.index,
    claim: async (names) => {
      if (!isChanged) for (const [name, work] of Object.entries(change)) await work(join(root, name));
      isChanged = true;
      return archive.index.claim(names);
    },
  };
  const saved = await archive.save(root, new Map(), changing);
  const restored = await archive.load(saved);
  await expect(lstat(join(restored, "b-vanishes"))).rejects.toThrow("ENOENT");
  const contentOf = (name: string) => readFile(join(restored, name));
  expect((await contentOf("b-shrinks")).equals(large.subarray(0, (1 << 20) + 5))).toBe(true);
  expect((await contentOf("b-empties")).length).toBe(0);
  expect((await contentOf("b-grows")).equals(large)).toBe(true);
  expect(saved.files).toBe(1_203);
});

test.each([
  ["tomorrow", Date.now() + 86_400_000],
  ["in the year 2100", Date.UTC(2100)],
  ["in 1970", 0],
])("a file that was changed %s is saved with its content, as after the clock was set back", async (_, time) => {
  const root = await freshFolder();
  const file = join(root, "a.txt");
  const at = new Date(time);
  const put = async (content: string) => {
    await writeFile(file, content);
    await utimes(file, at, at);
  };
  await put("one");
  const archive = await makeArchive();
  const first = await archive.save(root);
  await put("three");
  const second = await archive.save(root, await archive.filesOf(first));
  for (const [saved, content] of [
    [first, "one"],
    [second, "three"],
  ] as const) {
    const restored = await archive.load(saved);
    expect(await readFile(join(restored, "a.txt"), "utf8")).toBe(content);
    // File systems store finer fractions than a number of seconds can hold.
    expect((await lstat(join(restored, "a.txt"))).mtimeMs).toBeCloseTo(time, 2);
  }
});

test("a file with a time in the future is always read", async () => {
  const root = await freshFolder();
  const file = join(root, "a.txt");
  const tomorrow = new Date(Date.now() + 86_400_000);
  const archive = await makeArchive();
  const put = async (content: string) => {
    await writeFile(file, content);
    await utimes(file, tomorrow, tomorrow);
  };
  await put("one");
  const before = await archive.filesOf(await archive.save(root));
  await put("two");
  const restored = await archive.load(await archive.save(root, before));
  expect(await readFile(join(restored, "a.txt"), "utf8")).toBe("two");
});

test.each(["file", "folder"])("an unreadable %s fails the backup, and no pieces are stored", async (kind) => {
  await asOtherUser(async () => {
    const root = await freshFolder();
    const closed = join(root, "closed");
    await writeFile(join(root, "a.txt"), "a");
    await (kind === "file" ? writeFile(closed, "secret") : mkdir(closed));
    await chmod(closed, 0);
    const archive = await makeArchive();
    await expect(archive.save(root)).rejects.toThrow(/^closed can't be backed up: its permissions let no one read it/);
    expect(archive.index.pieces.size).toBe(0);
  });
});

test("a large file that vanishes during the backup is left out", async () => {
  const root = await freshFolder();
  for (let at = 0; at < 1_200; at += 1) await writeFile(join(root, `a${at}`), `${at}`);
  await writeFile(join(root, "b"), randomBytes(3 << 20));
  const archive = await makeArchive();
  const vanishing: PieceIndex = {
    ...archive.index,
    claim: async (names) => {
      await rm(join(root, "b"), { force: true });
      return archive.index.claim(names);
    },
  };
  const saved = await archive.save(root, new Map(), vanishing);
  expect(saved.files).toBe(1_200);
});

test("a file from before 1970 keeps its time", async () => {
  const root = await freshFolder();
  await writeFile(join(root, "a.txt"), "a");
  const then = new Date(-86_400_000);
  await utimes(join(root, "a.txt"), then, then);
  const archive = await makeArchive();
  const restored = await archive.load(await archive.save(root));
  expect((await lstat(join(restored, "a.txt"))).mtimeMs).toBe(-86_400_000);
});
