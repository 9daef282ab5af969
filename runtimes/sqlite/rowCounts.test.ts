import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sqliteDatabase } from "./sqliteDatabase.ts";

const { signal } = new AbortController();
let parent = "";
let folder = "";
beforeEach(async () => {
  parent = await mkdtemp(path.join(tmpdir(), "rows-"));
  folder = path.join(parent, "database");
  await mkdir(folder);
});
afterEach(() => rm(parent, { recursive: true }));

function make(file: string, sql: string): void {
  const database = new DatabaseSync(path.join(folder, file));
  database.exec(sql);
  database.close();
}

const count = (scratch: string | null = null) =>
  sqliteDatabase.countRows({ of: { folder }, folder, hasWordPress: false }, scratch, signal);

test("counts all tables except views, virtual tables, and those of SQLite and its driver", async () => {
  make(
    "database.sqlite",
    `CREATE TABLE "odd ""name""" (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO "odd ""name""" VALUES (1), (2), (3);
     CREATE TABLE __proto__ (id); INSERT INTO __proto__ VALUES (1);
     CREATE TABLE empty (id);
     CREATE TABLE keyed (id PRIMARY KEY) WITHOUT ROWID; INSERT INTO keyed VALUES (1);
     CREATE TABLE _wp_sqlite_global_variables (name); INSERT INTO _wp_sqlite_global_variables VALUES (1);
     CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n;
     CREATE VIRTUAL TABLE words USING fts5(word); INSERT INTO words VALUES ('one');`,
  );
  const expected = [
    ['odd "name"', 3],
    ["__proto__", 1],
    ["empty", 0],
    ["keyed", 1],
  ];
  expect(Object.entries(await count()).toSorted()).toEqual(expected.toSorted());
});

test("prefixes tables of other databases with their path, and ignores other files", async () => {
  make("database.sqlite", "CREATE TABLE a (id); INSERT INTO a VALUES (1)");
  await mkdir(path.join(folder, "shop"));
  make("shop/orders.db", "CREATE TABLE a (id); INSERT INTO a VALUES (1), (2)");
  await writeFile(path.join(folder, "notes.txt"), "no database");
  expect(await count()).toEqual({ a: 1, "shop/orders.db: a": 2 });
});

test("ignores a concurrent write, and removes the copy", async () => {
  make("database.sqlite", "CREATE TABLE a (id); INSERT INTO a VALUES (1)");
  const writer = new DatabaseSync(path.join(folder, "database.sqlite"));
  writer.exec("BEGIN; INSERT INTO a VALUES (2)");
  expect(await count(path.join(parent, "scratch"))).toEqual({ a: 1 });
  writer.exec("COMMIT");
  writer.close();
  expect(await readdir(parent)).toEqual(["database"]);
});

test("reports a damaged database", async () => {
  make("database.sqlite", "CREATE TABLE a (id); CREATE TABLE b (id); INSERT INTO a VALUES (hex(randomblob(20000)))");
  await truncate(path.join(folder, "database.sqlite"), 5_000);
  await expect(count()).rejects.toThrow("A database is damaged, so it can't be read.");
});

test("an abort ends the work", async () => {
  make("database.sqlite", "CREATE TABLE a (id)");
  const controller = new AbortController();
  const counting = sqliteDatabase.countRows({ of: { folder }, folder, hasWordPress: false }, null, controller.signal);
  controller.abort();
  await expect(counting).rejects.toThrow("abort");
});
