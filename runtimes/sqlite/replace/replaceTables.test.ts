import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RuntimeFailure } from "../../runtime.ts";
import { replaceTables } from "./replaceTables.ts";

const driver = "_wp_sqlite_mysql_information_schema_";

let folder: string;
let own: DatabaseSync;
let sourceFile: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tables-"));
  sourceFile = path.join(folder, "source.sqlite");
  own = new DatabaseSync(path.join(folder, "own.sqlite"));
  own.exec(schema("TEXT"));
  own.exec("INSERT INTO t (name) VALUES ('own'); INSERT INTO other VALUES ('own')");
});
afterEach(async () => {
  own.close();
  await rm(folder, { recursive: true });
});

/** Creates two tables like the driver does, with its metadata. */
function schema(type: string, more = ""): string {
  return `
    CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, name ${type} COLLATE NOCASE ${more}) STRICT;
    CREATE TABLE other (name TEXT);
    CREATE TABLE ${driver}columns (TABLE_NAME TEXT COLLATE NOCASE, COLUMN_TYPE TEXT);
    INSERT INTO ${driver}columns VALUES ('t', '${type}'), ('other', 'TEXT');
    CREATE TABLE ${driver}table_constraints (
      CONSTRAINT_SCHEMA TEXT, CONSTRAINT_NAME TEXT, TABLE_NAME TEXT, CONSTRAINT_TYPE TEXT);
    INSERT INTO ${driver}table_constraints VALUES ('s', 'c_${type}', 't', 'CHECK'), ('s', 'c_other', 'other', 'CHECK');
    CREATE TABLE ${driver}check_constraints (CONSTRAINT_SCHEMA TEXT, CONSTRAINT_NAME TEXT);
    INSERT INTO ${driver}check_constraints VALUES ('s', 'c_${type}'), ('s', 'c_other');`;
}

function makeSource(sql: string): void {
  const source = new DatabaseSync(sourceFile);
  source.enableDefensive(false);
  source.exec(sql);
  source.close();
}

const rows = (sql: string) =>
  own
    .prepare(sql)
    .all()
    .map((row) => Object.values(row).join());

test("copies a table with its rows, indexes, triggers, sequence and driver metadata", () => {
  makeSource(`${schema("ANY")}
    CREATE UNIQUE INDEX t__name ON t (name);
    CREATE TRIGGER on_update AFTER UPDATE ON t BEGIN UPDATE t SET name = 'touched' WHERE rowid = NEW.rowid + 1; END;
    INSERT INTO t VALUES (7, 'seven'), (8, 'eight'); INSERT INTO t VALUES (99, 'x'); DELETE FROM t WHERE id = 99;
    INSERT INTO other VALUES ('source')`);
  replaceTables(own, sourceFile, ["t"]);
  expect(rows("SELECT id, name FROM t")).toEqual(["7,seven", "8,eight"]);
  expect(rows("SELECT name FROM other")).toEqual(["own"]);
  expect(() => own.exec("INSERT INTO t (name) VALUES ('SEVEN')")).toThrow("UNIQUE");
  own.exec("UPDATE t SET name = 'changed' WHERE id = 7");
  expect(rows("SELECT name FROM t WHERE id = 8")).toEqual(["touched"]);
  own.exec("INSERT INTO t (name) VALUES ('next')");
  expect(rows("SELECT max(id) FROM t")).toEqual(["100"]);
  expect(rows(`SELECT * FROM ${driver}columns ORDER BY 1`)).toEqual(["other,TEXT", "t,ANY"]);
  expect(rows(`SELECT CONSTRAINT_NAME FROM ${driver}check_constraints ORDER BY 1`)).toEqual(["c_ANY", "c_other"]);
  expect(rows(`SELECT CONSTRAINT_NAME FROM ${driver}table_constraints ORDER BY 1`)).toEqual(["c_ANY", "c_other"]);
  expect(rows("PRAGMA integrity_check")).toEqual(["ok"]);
});

test("adds a table that only the source has, with generated columns", () => {
  makeSource("CREATE TABLE fresh (a INTEGER, b INTEGER AS (a * 2)); INSERT INTO fresh (a) VALUES (21)");
  replaceTables(own, sourceFile, ["fresh"]);
  expect(rows("SELECT * FROM fresh")).toEqual(["21,42"]);
});

test.each(["missing", "sqlite_sequence", `${driver}columns`, "a_view", "words"])("%s can't be replaced", (table) => {
  makeSource(`${schema("TEXT")} CREATE VIEW a_view AS SELECT 1; CREATE VIRTUAL TABLE words USING fts5 (word)`);
  expect(() => replaceTables(own, sourceFile, ["t", table])).toThrow(RuntimeFailure);
  expect(rows("SELECT name FROM t")).toEqual(["own"]);
});

test.each([
  ["CREATE TABLE t (name TEXT); ATTACH 'FILE' AS victim; CREATE TABLE victim.mark (x)", "a second statement"],
  [
    "CREATE TABLE t AS SELECT 1 AS name FROM pragma_database_list; ATTACH 'FILE' AS victim",
    "a statement after a query",
  ],
])("a manipulated schema can't access another file: %s", async (sql) => {
  const planted = sql.replace("FILE", path.join(folder, "victim.sqlite")).replaceAll("'", "''");
  makeSource(`CREATE TABLE t (name TEXT); PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = '${planted}' WHERE name = 't'`);
  try {
    replaceTables(own, sourceFile, ["t"]);
  } catch {
    // Refusing it is as good as ignoring it.
  }
  expect((await readdir(folder)).filter((name) => name.startsWith("victim"))).toEqual([]);
  expect(rows("PRAGMA database_list").some((row) => row.includes("victim"))).toBe(false);
});
