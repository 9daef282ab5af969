import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { explainStart, openDataFolder } from "./dataFolder.ts";
import { testFolder } from "./testing/folder.ts";

const places = { data: "/srv/data", assets: "/srv/data/assets" };
const full =
  "The disk of SITEWRIGHT_DATA (/srv/data) is full. " +
  "Make room on it, then start again: the next start goes on where this one broke off.";

test("a data folder is made and locked; who holds it is told as it is", () => {
  const data = join(testFolder(), "a", "data");
  const lock = openDataFolder(data);
  expect(() => openDataFolder(data)).toThrow(/^Sitewright is already running/);
  lock.release();
});

test("a file in the place of the data folder is told with its path and the setting", () => {
  const file = join(testFolder(), "file");
  writeFileSync(file, "");
  expect(() => openDataFolder(file)).toThrow(
    `The folder ${file} can't be used: it is a file and not a folder. ` +
      "Set SITEWRIGHT_DATA to a folder that this user can write to.",
  );
  expect(() => openDataFolder(join(file, "data"))).toThrow(/a part of its path is a file.*SITEWRIGHT_DATA/);
});

test.each([
  "ENOSPC: no space left on device, write",
  "PostgreSQL could not make its folder /srv/data/postgres:\ninitdb: error: could not write: No space left on device",
  "control did not start, in 3 attempts. It ended (exit code 1). Its last words:\n    Error: ENOSPC: no space left on device",
  "database or disk is full",
])("a full disk is told as one, whoever met it: %s", (message) => {
  expect(explainStart(new Error(message), places)).toBe(full);
});

test("a full disk may be the one of a folder of WordPress that lies elsewhere", () => {
  const sentence = explainStart(new Error("ENOSPC"), { ...places, assets: "/big/assets" });
  expect(sentence).toContain("The disk of SITEWRIGHT_DATA (/srv/data) or of SITEWRIGHT_ASSETS (/big/assets) is full.");
});

test("other reasons, and the full disk of another folder, are told as they are", () => {
  const elsewhere = Object.assign(new Error("ENOSPC: no space left on device, mkdir '/tmp/x'"), { path: "/tmp/x" });
  expect(explainStart(elsewhere, places)).toBe(elsewhere.message);
  expect(explainStart(new Error("No spark."), places)).toBe("No spark.");
});
