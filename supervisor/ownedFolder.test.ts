import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ensureOwnedFolder } from "./ownedFolder.ts";
import { testFolder } from "./testing/folder.ts";

const modeOf = (path: string) => statSync(path).mode & 0o777;

test("creates the folder with its mode, whatever the umask", () => {
  const folder = testFolder();
  const before = process.umask(0o077);
  ensureOwnedFolder(join(folder, "a", "b"), 0o755);
  process.umask(before);
  expect(modeOf(join(folder, "a", "b"))).toBe(0o755);
});

test("keeps an existing folder and its files", () => {
  const run = join(testFolder(), "run");
  ensureOwnedFolder(run);
  writeFileSync(join(run, "file"), "");
  ensureOwnedFolder(run);
  expect([modeOf(run), statSync(join(run, "file")).size]).toEqual([0o700, 0]);
});

test("refuses a folder that is open to others, and keeps its mode", () => {
  const run = join(testFolder(), "run");
  mkdirSync(run);
  chmodSync(run, 0o755);
  expect(() => ensureOwnedFolder(run)).toThrow(/is open to other users \(mode 755\)/);
  expect(modeOf(run)).toBe(0o755);
});

test("refuses a link or a file in its place", () => {
  const folder = testFolder();
  symlinkSync(folder, join(folder, "link"));
  writeFileSync(join(folder, "file"), "");
  expect(() => ensureOwnedFolder(join(folder, "link"))).toThrow("is not a folder");
  expect(() => ensureOwnedFolder(join(folder, "file"))).toThrow();
});

test.runIf(process.getuid?.() === 0)("refuses a folder of another user", () => {
  const run = join(testFolder(), "run");
  mkdirSync(run, { mode: 0o700 });
  chownSync(run, 12345, 12345);
  expect(() => ensureOwnedFolder(run)).toThrow("belongs to another user (uid 12345)");
});
