import { appendFile, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { firstRelease, writeRecord } from "../releases.ts";
import { sqliteDatabase } from "../sqlite/sqliteDatabase.ts";
import { unchangedPackages } from "./unchangedPackages.ts";

let root: string;
const environment = { id: "site", number: 1 };
const at = (file: string) => path.join(root, "site", file);

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "unchanged-"));
  onTestFinished(() => rm(root, { recursive: true }));
  const release = at("releases/1");
  await mkdir(path.join(release, "public/wp-content/plugins/shop"), { recursive: true });
  await mkdir(path.join(release, "database"));
  await writeFile(path.join(release, "database/wordpress.sqlite"), "x");
  const facts = { wordpressVersion: "7.1.1", multisite: null, core: null };
  await writeRecord(release, { ...firstRelease, ...facts });
  await symlink("releases/1", at("current"));
});

/** A minute after now, because clocks may differ, and past the resolution of the file system's times. */
async function laterReading(): Promise<Date> {
  const now = Date.now() + 20;
  await expect.poll(() => Date.now()).toBeGreaterThan(now);
  return new Date(now + 60_000);
}

const context = () => ({ environments: root, assets: path.join(root, "assets"), database: sqliteDatabase });
const find = async (readAt: Date) => [...(await unchangedPackages([{ ...environment, readAt }], context()))];

test("an environment that was read long after its last change is unchanged", async () => {
  expect(await find(await laterReading())).toEqual(["site"]);
});

test("an environment that was read shortly after its last change is not certainly unchanged", async () => {
  expect(await find(new Date())).toEqual([]);
});

test.each<[string, () => Promise<unknown>]>([
  ["its database was written", () => appendFile(at("releases/1/database/wordpress.sqlite"), "y")],
  ["a plugin was added", () => mkdir(at("releases/1/public/wp-content/plugins/new"))],
  [
    "another release is current, even if its files are older",
    async () => {
      await symlink("releases/1", at("next"));
      await rename(at("next"), at("current"));
    },
  ],
  ["it is gone", () => rm(at("current"))],
  ["its record is damaged", () => writeFile(at("releases/1/release.json"), "{")],
])("an environment has changed if %s", async (_, change) => {
  const readAt = await laterReading();
  await change();
  expect(await find(readAt)).toEqual([]);
});
