import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { HostFiles } from "./hostFiles.ts";

let folder: string;
let files: HostFiles;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "hosts-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  files = new HostFiles(path.join(folder, "files"));
});

const names = (environmentId: string, ...list: readonly string[]) => list.map((name) => ({ name, environmentId }));

test("an environment's file has its names only, and no wildcards", async () => {
  await files.setNames([...names("one", "one.example", "*.one.example", "localhost"), ...names("two", "two.example")]);
  expect(await readFile(await files.fileOf("one"), "utf8")).toBe("127.0.0.1 localhost\n127.0.0.1 one.example\n");
});

test("a file that is mounted gets other names, fewer ones too", async () => {
  await files.setNames(names("one", "long-name.example", "other.example"));
  const file = await files.fileOf("one");
  const { ino } = await stat(file);
  await files.setNames(names("one", "a.example"));
  expect(await readFile(file, "utf8")).toBe("127.0.0.1 localhost\n127.0.0.1 a.example\n");
  await files.setNames([]);
  expect(await readFile(file, "utf8")).toBe("127.0.0.1 localhost\n");
  expect((await stat(file)).ino).toBe(ino);
});

test("files of environments that are gone are removed, and made again when they are back", async () => {
  for (const id of ["one", "two"]) await files.fileOf(id);
  await files.retain(new Set(["two"]));
  expect(await readdir(path.join(folder, "files"))).toEqual(["two"]);
  expect(await readFile(await files.fileOf("one"), "utf8")).toBe("127.0.0.1 localhost\n");
});

test("a file of an earlier server is replaced", async () => {
  await files.setNames(names("one", "old.example"));
  const file = await files.fileOf("one");
  const next = new HostFiles(path.join(folder, "files"));
  expect(await next.fileOf("one")).toBe(file);
  expect(await readFile(file, "utf8")).toBe("127.0.0.1 localhost\n");
});
