/** What is put together of snapshots that sites have made what they are; `conformance.ts` and the downloads' tests have usual ones. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { firstRelease, writeRecord } from "../../../releases.ts";
import { plainFacts } from "../plain.ts";
import type { ReleaseFacts } from "../release.ts";
import { exportSite } from "./exportSite.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "export-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const wordpress: ReleaseFacts = { wordpressVersion: "7.1.1", multisite: null, core: "files/core" };

/** A snapshot with these files, and shared code in `assets`. */
async function snapshot(facts: ReleaseFacts, files: Readonly<Record<string, string>>): Promise<string> {
  const place = path.join(folder, "snapshot");
  const shared = { "assets/files/core/wp-admin/index.php": "a", "assets/files/core/wp-includes/version.php": "v" };
  for (const part of ["public", "database"]) await mkdir(path.join(place, part), { recursive: true });
  const own = Object.entries(files).map(([name, content]) => [path.join("snapshot", name), content] as const);
  for (const [name, content] of [...own, ...Object.entries(shared)]) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  await writeRecord(place, { ...facts, ...firstRelease });
  return place;
}

async function exported(place: string, assets = "assets") {
  const target = path.join(folder, "target");
  const site = await exportSite({ folder: place }, target, path.join(folder, assets));
  const entries = await readdir(target, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return {
    site,
    target,
    files: files.map((file) => path.relative(target, path.join(file.parentPath, file.name))).toSorted(),
  };
}

function makeDatabase(place: string, name: string): void {
  const database = new DatabaseSync(path.join(place, "database", name));
  database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (1, 'kept')");
  database.close();
}

test("tables of a site without WordPress come as SQL, and its databases as they are", async () => {
  const place = await snapshot(plainFacts, { "public/index.php": "<?php", "database/other.txt": "x" });
  makeDatabase(place, "database.sqlite");
  const { site, files, target } = await exported(place);
  expect(site).toEqual({ wordpressVersion: null, multisite: null, tables: 1, notes: [] });
  expect(files).toEqual(["database.sql", "database/database.sqlite", "database/other.txt", "public/index.php"]);
  expect(await readFile(path.join(target, "database.sql"), "utf8")).toContain("(1,'kept')");
});

test("a site without WordPress may do without a database", async () => {
  const { site, files } = await exported(await snapshot(plainFacts, { "public/index.html": "x" }));
  expect(site.tables).toBe(0);
  expect(files).toEqual(["public/index.html"]);
});

test("a WordPress has the shared code, and keeps what is not Sitewright's", async () => {
  const place = await snapshot(wordpress, {
    "public/index.php": "<?php",
    "public/wp-admin/nobody-sees.php": "x",
    "public/wp-content/db.php": "<?php // somebody else's drop-in",
    "public/wp-content/mu-plugins/own.php": "<?php",
    "public/wp-content/mu-plugins/sqlite-database-integration/load.php": "<?php",
  });
  makeDatabase(place, "wordpress.sqlite");
  expect((await exported(place)).files).toEqual([
    "database.sql",
    "public/index.php",
    "public/wp-admin/index.php",
    "public/wp-content/db.php",
    "public/wp-content/mu-plugins/own.php",
    "public/wp-includes/version.php",
  ]);
  expect(await readdir(path.join(place, "public", "wp-admin"))).toEqual(["nobody-sees.php"]);
});

test("what is missing is said in a sentence, and nothing is left", async () => {
  const place = await snapshot(wordpress, { "public/index.php": "<?php" });
  await expect(exported(place)).rejects.toThrow("The site has no database");
  makeDatabase(place, "wordpress.sqlite");
  await expect(exported(place, "nowhere")).rejects.toThrow(
    "WordPress 7.1.1, which this site used, is no longer available here.",
  );
  await writeFile(
    path.join(place, "database", "wordpress.sqlite"),
    "no database, whatever it is called, and long enough",
  );
  await expect(exported(place)).rejects.toThrow("A database is damaged");
  expect((await readdir(folder)).toSorted()).toEqual(["assets", "snapshot"]);
});
