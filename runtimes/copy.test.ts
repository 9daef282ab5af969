import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { CopyFailed, copyFolders, copyLive, isDiskFull, linkLive } from "./copy.ts";

let folder: string;
let source: string;
let target: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "copy-"));
  [source, target] = [path.join(folder, "source"), path.join(folder, "target")];
  await mkdir(path.join(source, "inner"), { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

describe.each([
  ["copied", copyLive],
  ["linked", linkLive],
])("a site that is %s", (_how, make) => {
  test("keeps modification times, which PHP's opcode cache uses, and permissions", async () => {
    const file = path.join(source, "inner", "a.php");
    await writeFile(file, "x");
    await utimes(file, 1_000_000, 1_000_000);
    await chmod(file, 0o640);
    await make(source, target);
    const facts = await stat(path.join(target, "inner", "a.php"));
    expect([facts.mtimeMs, facts.mode & 0o777]).toEqual([1_000_000_000, 0o640]);
  });

  test("has no symbolic links, nor anything behind them", async () => {
    await writeFile(path.join(source, "a.txt"), "x");
    await symlink("/etc", path.join(source, "outside"));
    await symlink("a.txt", path.join(source, "inner", "inside"));
    await make(source, target);
    expect((await readdir(target, { recursive: true })).toSorted()).toEqual(["a.txt", "inner"]);
  });

  test("leaves out files that vanish meanwhile", async () => {
    const names = Array.from({ length: 3000 }, (_, index) => path.join(source, "inner", `cached-'\n${index}`));
    await Promise.all(names.map((name) => writeFile(name, "x")));
    await writeFile(path.join(source, "kept.txt"), "kept");
    const copied = make(source, target);
    for (const name of names.toReversed()) {
      await rm(name);
      await turn();
    }
    await copied;
    expect(await readFile(path.join(target, "kept.txt"), "utf8")).toBe("kept");
  });

  test("fails if there is no original", async () => {
    await expect(make(path.join(folder, "absent"), target)).rejects.toThrow("ENOENT");
  });
});

describe("cp's error messages", () => {
  const gone = (index: number) => `cp: cannot stat '/sites/No space left/${index}': No such file or directory`;
  const lines = Array.from({ length: 5000 }, (_, index) => gone(index));

  test("are truncated in the error", async () => {
    const sources = Array.from({ length: 2000 }, (_, index) => path.join(source, `absent-${index}`));
    const error = await copyFolders(sources, source).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(CopyFailed);
    const { message, ...more } = error instanceof Error ? { ...error, message: error.message } : { message: "" };
    expect(message).toMatch(/^cp failed: cp: cannot stat '.*absent-0': No such file or directory\n.*\n…$/s);
    expect(message.length).toBeLessThan(2100);
    expect(JSON.stringify(more).length).toBeLessThan(200);
    expect(isDiskFull(error)).toBe(false);
  });

  test("report a full disk in any line, but not in a file name", () => {
    const full = new CopyFailed([...lines, "cp: error writing '/sites/a': No space left on device"].join("\n"));
    expect([isDiskFull(full), full.onlyVanished]).toEqual([true, false]);
    const vanished = new CopyFailed(lines.join("\n"));
    expect([isDiskFull(vanished), vanished.onlyVanished]).toEqual([false, true]);
  });
});

test("a linked site's files take no disk space", async () => {
  await writeFile(path.join(source, "inner", "a.jpg"), "x");
  await linkLive(source, target);
  const [one, other] = await Promise.all([source, target].map((root) => stat(path.join(root, "inner", "a.jpg"))));
  expect(other?.ino).toBe(one?.ino);
});

test("a site is copied if its files can't be linked, for example on another file system", async () => {
  const elsewhere = await mkdtemp("/dev/shm/copy-");
  onTestFinished(() => rm(elsewhere, { recursive: true }));
  await writeFile(path.join(source, "inner", "a.jpg"), "x");
  await symlink("/etc", path.join(source, "outside"));
  await linkLive(source, path.join(elsewhere, "target"));
  expect((await readdir(elsewhere, { recursive: true })).toSorted()).toEqual([
    "target",
    "target/inner",
    "target/inner/a.jpg",
  ]);
});
