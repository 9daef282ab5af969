import { execFileSync } from "node:child_process";
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { letGroupPass, openFolderOf, removeLinksIn } from "./folderOwner.ts";

const ownId = process.getuid?.() ?? 0;
const isRoot = ownId === 0;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "owner-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

test("a folder of an expected owner is opened", async () => {
  await using opened = await openFolderOf([ownId + 1, ownId], folder);
  expect((await opened.stat()).ino).toBe((await lstat(folder)).ino);
});

test("a folder of another owner is refused", async () => {
  await expect(openFolderOf([ownId + 1], folder)).rejects.toThrow(`belongs to user ${ownId} instead of ${ownId + 1}`);
});

test.each<[string, (file: string) => Promise<void>]>([
  ["a link to a folder of the owner", (file) => symlink(folder, file)],
  ["a file", (file) => writeFile(file, "")],
])("%s is refused", async (_, make) => {
  const file = path.join(folder, "made");
  await make(file);
  await expect(openFolderOf([ownId], file)).rejects.toThrow("ENOTDIR");
});

test("links and pipes are removed at any depth", async () => {
  const inner = path.join(folder, "a/b");
  await mkdir(inner, { recursive: true });
  await writeFile(path.join(inner, "file"), "");
  await symlink("/etc/passwd", path.join(inner, "link"));
  await symlink("/etc", path.join(folder, "link"));
  execFileSync("mkfifo", [path.join(inner, "pipe")]);
  await removeLinksIn(folder);
  expect((await readdir(folder, { recursive: true })).toSorted()).toEqual(["a", "a/b", "a/b/file"]);
});

const [group, user] = [123_456, 123_457];

/** Makes the folders `root/site/own/database`: of root, of a site, and of the user. */
async function makeDatabase(): Promise<string> {
  const database = path.join(folder, "root/site/own/database");
  await mkdir(database, { recursive: true });
  await chown(path.join(folder, "root/site"), user + 1, user + 1);
  await chown(path.join(folder, "root/site/own"), user, user);
  for (const each of ["root", "root/site", "root/site/own", "root/site/own/database"])
    await chmod(path.join(folder, each), 0o700);
  return database;
}

async function accessTo(name: string) {
  const facts = await lstat(path.join(folder, name));
  return [facts.uid, facts.gid, facts.mode & 0o7777];
}

test.runIf(isRoot)("a group may pass through the folders above, without listing them", async () => {
  await letGroupPass({ user, group }, await makeDatabase());
  expect(await accessTo("root")).toEqual([0, group, 0o710]);
  expect(await accessTo("root/site")).toEqual([user + 1, group, 0o710]);
  expect(await accessTo("root/site/own")).toEqual([user, user, 0o700]);
  expect(await accessTo("root/site/own/database")).toEqual([0, 0, 0o700]);
});

test.runIf(isRoot)("no group loses its access to a folder", async () => {
  const [database, closed] = [await makeDatabase(), path.join(folder, "root")];
  await chown(closed, 0, group + 2);
  await chmod(closed, 0o750);
  await expect(letGroupPass({ user, group }, database)).rejects.toThrow(`chmod o+x ${closed}`);
  expect(await accessTo("root")).toEqual([0, group + 2, 0o750]);
});
