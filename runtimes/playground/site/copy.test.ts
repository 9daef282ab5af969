import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyLive } from "./copy.ts";

let folder: string;
let source: string;
let target: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "copy-"));
  [source, target] = [path.join(folder, "source"), path.join(folder, "target")];
  await mkdir(path.join(source, "inner"), { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

test("a copy has the times and the permissions of the original, which PHP's opcode cache goes by", async () => {
  const file = path.join(source, "inner", "a.php");
  await writeFile(file, "x");
  await utimes(file, 1_000_000, 1_000_000);
  await chmod(file, 0o640);
  await copyLive(source, target);
  const facts = await stat(path.join(target, "inner", "a.php"));
  expect([facts.mtimeMs, facts.mode & 0o777]).toEqual([1_000_000_000, 0o640]);
});

test("no link is copied, wherever it leads, and nothing behind it", async () => {
  await writeFile(path.join(source, "a.txt"), "x");
  await symlink("/etc", path.join(source, "outside"));
  await symlink("a.txt", path.join(source, "inner", "inside"));
  await copyLive(source, target);
  expect((await readdir(target, { recursive: true })).toSorted()).toEqual(["a.txt", "inner"]);
});

test("what vanishes while a site is copied is left out", async () => {
  const names = Array.from({ length: 3000 }, (_, index) => path.join(source, "inner", `cached-'\n${index}`));
  await Promise.all(names.map((name) => writeFile(name, "x")));
  await writeFile(path.join(source, "kept.txt"), "kept");
  const copied = copyLive(source, target);
  for (const name of names.toReversed()) {
    await rm(name);
    await turn();
  }
  await copied;
  expect(await readFile(path.join(target, "kept.txt"), "utf8")).toBe("kept");
});

test("a source that is not there is no empty copy", async () => {
  await expect(copyLive(path.join(folder, "absent"), target)).rejects.toThrow("ENOENT");
});
