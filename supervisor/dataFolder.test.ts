import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { explainStartError, openDataFolder } from "./dataFolder.ts";
import { testFolder } from "./testing/folder.ts";

const places = { data: "/srv/data", assets: "/srv/data/assets" };
const full =
  "The disk of SITEWRIGHT_DATA (/srv/data) is full. " +
  "Free some space, then start again: startup continues where it stopped.";

test("creates and locks the data folder, and fails if it is locked already", () => {
  const data = join(testFolder(), "a", "data");
  const lock = openDataFolder(data);
  expect(() => openDataFolder(data)).toThrow(/^Sitewright is already running/);
  lock.release();
});

test("a file in place of the data folder is reported with its path and the setting", () => {
  const file = join(testFolder(), "file");
  writeFileSync(file, "");
  expect(() => openDataFolder(file)).toThrow(
    `The folder ${file} can't be used: it is a file, not a folder. ` +
      "Set SITEWRIGHT_DATA to a folder that this user can write to.",
  );
  expect(() => openDataFolder(join(file, "data"))).toThrow(/a part of its path is a file.*SITEWRIGHT_DATA/);
});

test.each([
  "ENOSPC: no space left on device, write",
  "PostgreSQL could not create its folder /srv/data/postgres:\ninitdb: error: could not write: No space left on device",
  "control did not start in 3 attempts. It ended (exit code 1). Last output:\n    Error: ENOSPC: no space left on device",
  "database or disk is full",
  'error: could not extend file "base/5/16998": wrote only 4096 of 8192 bytes at block 0',
])("reports a full disk, whichever process hit it: %s", (message) => {
  expect(explainStartError(new Error(message), places)).toBe(full);
});

test("names the folder of WordPress too if it is not below the data folder", () => {
  const sentence = explainStartError(new Error("ENOSPC"), { ...places, assets: "/big/assets" });
  expect(sentence).toContain("The disk of SITEWRIGHT_DATA (/srv/data) or of SITEWRIGHT_ASSETS (/big/assets) is full.");
});

test("passes on other errors, and a full disk of another folder", () => {
  const elsewhere = Object.assign(new Error("ENOSPC: no space left on device, mkdir '/tmp/x'"), { path: "/tmp/x" });
  expect(explainStartError(elsewhere, places)).toBe(elsewhere.message);
  expect(explainStartError(new Error("No spark."), places)).toBe("No spark.");
});
