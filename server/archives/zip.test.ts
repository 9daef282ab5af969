import { execFile } from "node:child_process";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openPromise } from "yauzl";
import { openDownloads } from "./downloads.ts";
import { type Renamed, writeZip } from "./zip.ts";

const run = promisify(execFile);
const { signal } = new AbortController();

let folder: string;
let root: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "zip-"));
  root = join(folder, "root");
  await mkdir(root);
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

interface Unpacked {
  readonly bytes: Buffer | null;
  readonly mode: string;
  readonly time: Date;
  readonly isCompressed: boolean;
}

/** Zips the folder and unpacks the zip with another library. Entries are by name; folders have no bytes. */
async function zipped() {
  let renamed: readonly Renamed[] = [];
  const file = join(folder, "it.zip");
  const text = (all: readonly Renamed[]) => {
    renamed = all;
    return "Read me";
  };
  await writeZip({ root, readme: { name: "README.txt", text } }, file, signal);
  const zip = await openPromise(file, { lazyEntries: true, autoClose: false });
  const found = new Map<string, Unpacked>();
  for await (const entry of zip.eachEntry()) {
    found.set(entry.fileName, {
      bytes: entry.fileName.endsWith("/") ? null : await buffer(await zip.openReadStreamPromise(entry)),
      mode: (entry.externalFileAttributes >>> 16).toString(8),
      time: entry.getLastModDate(),
      isCompressed: entry.compressionMethod !== 0,
    });
  }
  zip.close();
  return { file, found, renamed };
}

function textOf(found: ReadonlyMap<string, Unpacked>, name: string): string | undefined {
  return found.get(name)?.bytes?.toString();
}

test("a zip contains every file with its content and time, and empty folders", async () => {
  await mkdir(join(root, "public", "deep", "empty"), { recursive: true });
  await writeFile(join(root, "public", "deep", "ünï 🦄 日本.txt"), "text".repeat(1_000));
  await writeFile(join(root, "public", "nothing"), "");
  const then = new Date("2024-02-29T12:34:56Z");
  await utimes(join(root, "public", "nothing"), then, then);
  const { found } = await zipped();
  expect([...found.keys()]).toEqual([
    "public/deep/empty/",
    "README.txt",
    "public/deep/ünï 🦄 日本.txt",
    "public/nothing",
  ]);
  expect(textOf(found, "public/deep/ünï 🦄 日本.txt")).toBe("text".repeat(1_000));
  expect(textOf(found, "README.txt")).toBe("Read me");
  expect(found.get("public/nothing")).toMatchObject({ bytes: Buffer.alloc(0), time: then });
});

test("permissions are normalized for web servers", async () => {
  for (const [name, mode] of [
    ["closed", 0o600],
    ["open", 0o777],
    ["program", 0o744],
  ] as const) {
    await writeFile(join(root, name), name);
    await chmod(join(root, name), mode);
  }
  await mkdir(join(root, "folder"), { mode: 0o700 });
  const { found } = await zipped();
  const modes = Object.fromEntries([...found].map(([name, { mode }]) => [name, mode]));
  expect(modes).toEqual({
    "README.txt": "100644",
    closed: "100644",
    open: "100755",
    program: "100755",
    "folder/": "40755",
  });
});

test("links are neither followed nor included", async () => {
  await writeFile(join(root, "file"), "x");
  await symlink("/etc/passwd", join(root, "link"));
  await symlink("/etc", join(root, "folder"));
  await symlink("nowhere", join(root, "broken"));
  expect([...(await zipped()).found.keys()]).toEqual(["README.txt", "file"]);
});

test("unusual names are escaped so that any program can unpack them, stay unique, and are reported", async () => {
  const bytes = Buffer.concat([Buffer.from(`${root}/a`), Buffer.from([0xff, 0xfe])]);
  await mkdir(bytes);
  await writeFile(Buffer.concat([bytes, Buffer.from("/inside\\100%")]), "1");
  await writeFile(join(root, "line\nbreak"), "2");
  await writeFile(join(root, "line%0Abreak"), "3");
  await writeFile(join(root, "100%"), "4");
  const { found, renamed } = await zipped();
  const texts = [...found].filter(([name]) => name !== "README.txt").map(([name]) => [name, textOf(found, name)]);
  expect(texts.toSorted()).toEqual([
    ["100%", "4"],
    ["a%FF%FE/inside%5C100%25", "1"],
    ["line%0Abreak", "2"],
    ["line%0Abreak~", "3"],
  ]);
  expect(renamed.map(({ from, to }) => [from, to])).toEqual([
    ["a\ufffd\ufffd", "a%FF%FE"],
    ["a\ufffd\ufffd/inside\\100%", "a%FF%FE/inside%5C100%25"],
    ["line\nbreak", "line%0Abreak"],
    ["line%0Abreak", "line%0Abreak~"],
  ]);
});

test("already compressed files are not compressed again", async () => {
  for (const name of ["a.JPG", "a.php", "a.sql", "a.mp4"]) await writeFile(join(root, name), "x".repeat(1_000));
  const { found } = await zipped();
  const which = ["a.JPG", "a.php", "a.sql", "a.mp4"].map((name) => found.get(name)?.isCompressed);
  expect(which).toEqual([false, true, true, false]);
});

test("times outside the zip format's range are clamped", async () => {
  for (const [name, year] of [
    ["old", 1950],
    ["new", 2200],
  ] as const) {
    await writeFile(join(root, name), "x");
    await utimes(join(root, name), new Date(Date.UTC(year, 0)), new Date(Date.UTC(year, 0)));
  }
  const { found } = await zipped();
  expect(found.get("old")?.time.getUTCFullYear()).toBe(1980);
  expect(found.get("new")?.time.getUTCFullYear()).toBe(2038);
});

test("thousands of files and empty folders are included", async () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `${at}`);
  for (const name of names) {
    await mkdir(join(root, "folders", name), { recursive: true });
    await writeFile(join(root, `${name}.txt`), name);
  }
  const { found } = await zipped();
  expect(found.size).toBe(2_001);
  expect(textOf(found, "999.txt")).toBe("999");
});

test("a file of more than four gigabytes is complete", async () => {
  const bytes = 4_400_000_000;
  await writeFile(join(root, "large.log"), "");
  await truncate(join(root, "large.log"), bytes);
  const file = join(folder, "it.zip");
  await writeZip({ root, readme: { name: "README.txt", text: () => "" } }, file, signal);
  expect((await stat(file)).size).toBeLessThan(50_000_000);
  const { stdout } = await run("unzip", ["-l", file]);
  expect(stdout).toMatch(new RegExp(` *${bytes} .* large.log`));
}, 400_000);

test("unzip finds no errors", async () => {
  await writeFile(join(root, "a.php"), "<?php ".repeat(10_000));
  await writeFile(join(root, "b.png"), Buffer.alloc(100_000, 7));
  const { file } = await zipped();
  const { stdout } = await run("unzip", ["-t", file]);
  expect(stdout).toContain("No errors detected");
});

describe("the folder of downloads", () => {
  const id = "54fb80af-576c-4fdc-ba4f-b596c83f15a1";
  const zip = () => ({ root, readme: { name: "README.txt", text: () => "" } });

  test("writes zips atomically, readable only by their owner", async () => {
    const downloads = openDownloads(join(folder, "downloads"));
    expect(await downloads.list()).toEqual([]);
    expect(await downloads.open(id)).toBeNull();
    await writeFile(join(root, "file"), "x");
    const bytes = await downloads.write(id, zip(), signal);
    const opened = await downloads.open(id);
    expect(opened?.bytes).toBe(bytes);
    await opened?.handle.close();
    expect((await stat(join(folder, "downloads", `${id}.zip`))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "downloads"))).mode & 0o777).toBe(0o700);
    expect(await downloads.list()).toEqual([id]);
    await downloads.remove(id);
    await downloads.remove(id);
    expect(await readdir(join(folder, "downloads"))).toEqual([]);
  });

  test("keeps the previous zip if writing fails or is aborted", async () => {
    const downloads = openDownloads(join(folder, "downloads"));
    await writeFile(join(root, "file"), "x".repeat(1_000_000));
    await downloads.write(id, zip(), signal);
    const before = await readFile(join(folder, "downloads", `${id}.zip`));
    const stopped = new AbortController();
    const text = () => {
      stopped.abort(new Error("stopped"));
      return "";
    };
    const broken = { root, readme: { name: "README.txt", text } };
    await expect(downloads.write(id, broken, stopped.signal)).rejects.toThrow("stopped");
    const nowhere = { ...zip(), root: join(folder, "nowhere") };
    await expect(downloads.write(id, nowhere, signal)).rejects.toThrow("ENOENT");
    expect(await readdir(join(folder, "downloads"))).toEqual([`${id}.zip`]);
    expect(await readFile(join(folder, "downloads", `${id}.zip`))).toEqual(before);
  });

  test("rejects invalid ids", async () => {
    const downloads = openDownloads(join(folder, "downloads"));
    await expect(downloads.open("../secrets/key")).rejects.toThrow("Invalid id");
  });
});
