import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate as turn } from "node:timers/promises";
import { extract } from "tar";
import { expect, onTestFinished, test } from "vitest";
import { tarOf } from "./tarball.ts";

const large = 24 << 20;

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "swtarball-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** What another program finds in the archive. */
async function unpacked(archive: Readable): Promise<string> {
  const target = await freshFolder();
  await pipeline(archive, extract({ cwd: target, preserveOwner: false }));
  return target;
}

/** The archive of `folder`, where `change` happens while its first bytes are known and most of it is not yet read. */
async function* changedMeanwhile(folder: string, change: () => Promise<void>): AsyncGenerator<Buffer> {
  let isChanged = false;
  for await (const piece of tarOf(folder)) {
    yield piece;
    if (!isChanged) await change();
    isChanged = true;
  }
}

test("an archive has every file and folder, with permissions and times", async () => {
  const folder = await freshFolder();
  const deep = join("a".repeat(90), "ünï 漢字", "b".repeat(120));
  await mkdir(join(folder, deep), { recursive: true });
  await mkdir(join(folder, "empty"));
  await writeFile(join(folder, deep, "page.html"), "<p>hello");
  await writeFile(join(folder, "nothing"), "");
  await chmod(join(folder, "nothing"), 0o640);
  await utimes(join(folder, "nothing"), 1_000_000, 1_000_000);

  const target = await unpacked(tarOf(folder));
  expect((await readdir(target)).toSorted()).toEqual(["a".repeat(90), "empty", "nothing"]);
  expect(await readFile(join(target, deep, "page.html"), "utf8")).toBe("<p>hello");
  const { size, mode, mtimeMs } = await stat(join(target, "nothing"));
  expect([size, mode & 0o777, mtimeMs]).toEqual([0, 0o640, 1_000_000_000]);
});

test("a link is not followed, and not kept", async () => {
  const folder = await freshFolder();
  await symlink("/etc/passwd", join(folder, "link"));
  await writeFile(join(folder, "file"), "x");
  expect(await readdir(await unpacked(tarOf(folder)))).toEqual(["file"]);
});

test.each<[string, (file: string) => Promise<void>, number]>([
  ["grows", (file) => appendFile(file, "more"), 7],
  ["is emptied", (file) => truncate(file, 0), 0],
])(
  "a file that %s while it is read keeps the length it had, and what follows is whole",
  async (_what, change, last) => {
    const folder = await freshFolder();
    await writeFile(join(folder, "1-large"), Buffer.alloc(large, 7));
    await writeFile(join(folder, "2-after"), "after");
    const archive = Readable.from(changedMeanwhile(folder, () => change(join(folder, "1-large"))));
    const target = await unpacked(archive);
    const content = await readFile(join(target, "1-large"));
    expect([content.length, content.at(0), content.at(-1)]).toEqual([large, 7, last]);
    expect(await readFile(join(target, "2-after"), "utf8")).toBe("after");
  },
);

test("files that are gone break the archive off", async () => {
  const folder = await freshFolder();
  const files = Array.from({ length: 40 }, (_, index) => join(folder, `${index}`));
  for (const file of files) await writeFile(file, Buffer.alloc(2 << 20));
  const removeAll = async () => {
    for (const file of files) await rm(file);
  };
  await expect(unpacked(Readable.from(changedMeanwhile(folder, removeAll)))).rejects.toThrow("ENOENT");
});

test("many folders beside a large file are all kept", async () => {
  const folder = await freshFolder();
  await writeFile(join(folder, "large"), Buffer.alloc(large));
  const names = Array.from({ length: 5000 }, (_, index) => `folder-${index}`);
  for (const name of names) await mkdir(join(folder, name));
  expect(await readdir(await unpacked(tarOf(folder)))).toHaveLength(names.length + 1);
});

test.each([
  ["small files", 2000, 20_000],
  ["large files", 20, 2 << 20],
])("of %s, an archive that breaks off ends with its reason and nothing else", async (_what, count, bytes) => {
  const folder = await freshFolder();
  for (let index = 0; index < count; index += 1) await writeFile(join(folder, `${index}`), Buffer.alloc(bytes));
  const archive = tarOf(folder);
  const fail = async () => {
    await expect.poll(() => archive.readableLength).toBeGreaterThanOrEqual(archive.readableHighWaterMark);
    // The next file waits to be taken by now.
    for (let turns = 0; turns < 1000; turns += 1) await turn();
    throw new Error("no space left");
  };
  const full = new Writable({ highWaterMark: 1, write: (_piece, _encoding, done) => void fail().catch(done) });
  await expect(pipeline(archive, full)).rejects.toThrow("no space left");
  await turn();
});

test.each([
  ["before 1970", -86_400, 0],
  ["after 2038", 4_000_000_000, 2 ** 31 - 1],
])("a time %s is the nearest that an archive can say", async (_when, seconds, kept) => {
  const folder = await freshFolder();
  await writeFile(join(folder, "file"), "x");
  const time = new Date(seconds * 1000);
  await utimes(join(folder, "file"), time, time);
  const target = await unpacked(tarOf(folder));
  expect((await stat(join(target, "file"))).mtimeMs).toBe(kept * 1000);
});

test("whoever stops reading leaves no file open", async () => {
  const folder = await freshFolder();
  await writeFile(join(folder, "large"), Buffer.alloc(large));
  for await (const piece of tarOf(folder)) {
    expect(piece.length).toBeGreaterThan(0);
    break;
  }
  const open = async () => {
    const descriptors = await readdir("/proc/self/fd");
    const places = await Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
    return places.filter((place) => place.startsWith(folder));
  };
  await expect.poll(open).toEqual([]);
});
