import { execFileSync } from "node:child_process";
import { closeSync, constants, open, openSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { bytesIn, listFolder } from "./walk.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "walk-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(path.join(folder, "b", "inner"), { recursive: true });
  await writeFile(path.join(folder, "b", "inner", "file"), "12345");
  await writeFile(path.join(folder, "a"), "123");
  await symlink("/etc/passwd", path.join(folder, "link"));
});

test("the sizes of files at any depth are added up, and links are not followed", async () => {
  expect(await bytesIn(folder)).toBe(8);
  expect(await bytesIn(path.join(folder, "missing"))).toBe(0);
});

test("a list has all files and folders, sorted, and no links", async () => {
  const { folders, files } = await listFolder(folder);
  expect(folders.map((each) => each.path)).toEqual(["b", "b/inner"]);
  expect(files.map((each) => [each.path, each.bytes])).toEqual([
    ["a", 3],
    ["b/inner/file", 5],
  ]);
  await expect(listFolder(path.join(folder, "missing"))).rejects.toMatchObject({ code: "ENOENT" });
});

/** Occupies all threads that Node uses for the calls of the file system, until the returned function is called. */
function occupyPool(): () => Promise<void> {
  const threads = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const pipes = Array.from({ length: threads }, (_, number) => path.join(folder, `pipe-${number}`));
  execFileSync("mkfifo", pipes);
  // Opening a pipe lasts until someone opens its other end.
  const opened = pipes.map((pipe) => new Promise<void>((resolve) => open(pipe, (_, file) => resolve(closeSync(file)))));
  return async () => {
    const others = pipes.map((pipe) => openSync(pipe, constants.O_RDWR));
    await Promise.all(opened);
    others.forEach(closeSync);
  };
}

test("a walk does not wait for this process's calls of the file system, nor these for it", async () => {
  await bytesIn(folder);
  const release = occupyPool();
  onTestFinished(release);
  expect(await bytesIn(folder)).toBe(8);
  expect((await listFolder(folder)).files).toHaveLength(2);
});
