import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownFolder } from "./ownFolder.ts";
import { testFolder } from "./testing/folder.ts";

const modeOf = (path: string) => statSync(path).mode & 0o777;

test("a folder is made with its mode, whatever the umask", () => {
  const folder = testFolder();
  const before = process.umask(0o077);
  ownFolder(join(folder, "a", "b"), 0o755);
  process.umask(before);
  expect(modeOf(join(folder, "a", "b"))).toBe(0o755);
});

test("a folder of ours is taken again, and what it holds stays", () => {
  const run = join(testFolder(), "run");
  ownFolder(run);
  writeFileSync(join(run, "file"), "");
  ownFolder(run);
  expect([modeOf(run), statSync(join(run, "file")).size]).toEqual([0o700, 0]);
});

test("a folder that others may use is refused and not closed to them", () => {
  const run = join(testFolder(), "run");
  mkdirSync(run);
  chmodSync(run, 0o755);
  expect(() => ownFolder(run)).toThrow(/is open to other users \(mode 755\)/);
  expect(modeOf(run)).toBe(0o755);
});

test("what somebody else prepared is refused: a link, a file", () => {
  const folder = testFolder();
  symlinkSync(folder, join(folder, "link"));
  writeFileSync(join(folder, "file"), "");
  expect(() => ownFolder(join(folder, "link"))).toThrow("is not a folder");
  expect(() => ownFolder(join(folder, "file"))).toThrow();
});

test.runIf(process.getuid?.() === 0)("a folder of another user is refused", () => {
  const run = join(testFolder(), "run");
  mkdirSync(run, { mode: 0o700 });
  chownSync(run, 12345, 12345);
  expect(() => ownFolder(run)).toThrow("belongs to another user (uid 12345)");
});
