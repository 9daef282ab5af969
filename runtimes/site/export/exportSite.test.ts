/** Exports of unusual snapshots; `conformance.ts` and the tests of downloads cover normal ones. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { firstRelease, writeRecord } from "../../releases.ts";
import { sqliteDatabase } from "../../sqlite/sqliteDatabase.ts";
import { plainFacts } from "../plain.ts";
import type { ReleaseFacts } from "../release.ts";
import { exportSite } from "./exportSite.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "export-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const wordpress: ReleaseFacts = { wordpressVersion: "7.1.1", multisite: null, core: "files/core" };

/** Creates a snapshot with these files, and shared code in `assets`. */
async function snapshot(facts: ReleaseFacts, files: Readonly<Record<string, string>>): Promise<string> {
  const target = path.join(folder, "snapshot");
  const shared = { "assets/files/core/wp-admin/index.php": "a", "assets/files/core/wp-includes/version.php": "v" };
  for (const part of ["public", "database"]) await mkdir(path.join(target, part), { recursive: true });
  const own = Object.entries(files).map(([name, content]) => [path.join("snapshot", name), content] as const);
  for (const [name, content] of [...own, ...Object.entries(shared)]) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  await writeRecord(target, { ...facts, ...firstRelease });
  return target;
}

async function exported(source: string, assets = "assets") {
  const target = path.join(folder, "target");
  const site = await exportSite({ folder: source }, target, {
    environments: path.join(folder, "environments"),
    assets: path.join(folder, assets),
    database: sqliteDatabase,
  });
  const entries = await readdir(target, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return {
    site,
    target,
    files: files.map((file) => path.relative(target, path.join(file.parentPath, file.name))).toSorted(),
  };
}

function makeDatabase(snapshotFolder: string, name: string): void {
  const database = new DatabaseSync(path.join(snapshotFolder, "database", name));
  database.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (1, 'kept')");
  database.close();
}

test("a site without WordPress is exported with its tables as SQL and its database files", async () => {
  const source = await snapshot(plainFacts, { "public/index.php": "<?php", "database/other.txt": "x" });
  makeDatabase(source, "database.sqlite");
  const { site, files, target } = await exported(source);
  expect(site).toEqual({ wordpressVersion: null, multisite: null, databaseKind: "SQLite", tables: 1, notes: [] });
  expect(files).toEqual(["database.sql", "database/database.sqlite", "database/other.txt", "public/index.php"]);
  expect(await readFile(path.join(target, "database.sql"), "utf8")).toContain("(1,'kept')");
});

test("a site without WordPress may have no database", async () => {
  const { site, files } = await exported(await snapshot(plainFacts, { "public/index.html": "x" }));
  expect(site.tables).toBe(0);
  expect(files).toEqual(["public/index.html"]);
});

test("a WordPress gets the shared code, loses Sitewright's driver, and keeps all other files", async () => {
  const source = await snapshot(wordpress, {
    "public/index.php": "<?php",
    "public/wp-admin/nobody-sees.php": "x",
    "public/wp-content/db.php": "<?php // another drop-in",
    "public/wp-content/mu-plugins/own.php": "<?php",
    "public/wp-content/mu-plugins/sqlite-database-integration/load.php": "<?php",
  });
  makeDatabase(source, "wordpress.sqlite");
  expect((await exported(source)).files).toEqual([
    "database.sql",
    "public/index.php",
    "public/wp-admin/index.php",
    "public/wp-content/db.php",
    "public/wp-content/mu-plugins/own.php",
    "public/wp-includes/version.php",
  ]);
  expect(await readdir(path.join(source, "public", "wp-admin"))).toEqual(["nobody-sees.php"]);
});

test("missing parts are reported, and nothing is left", async () => {
  const source = await snapshot(wordpress, { "public/index.php": "<?php" });
  await expect(exported(source)).rejects.toThrow("The site has no database");
  makeDatabase(source, "wordpress.sqlite");
  await expect(exported(source, "nowhere")).rejects.toThrow(
    "WordPress 7.1.1, which this site used, is no longer available here.",
  );
  await writeFile(path.join(source, "database", "wordpress.sqlite"), "not a database, but long enough to be one");
  await expect(exported(source)).rejects.toThrow("A database is damaged");
  expect((await readdir(folder)).toSorted()).toEqual(["assets", "snapshot"]);
});
