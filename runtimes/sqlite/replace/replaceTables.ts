/**
 * Replaces tables of one database by another's, with their indexes, triggers, and the driver's metadata: the SQLite
 * driver translates MySQL, and stores MySQL's schema in its own tables.
 */
import { constants, type DatabaseSync } from "node:sqlite";
import { RuntimeFailure } from "../../runtime.ts";
import { quoted } from "../findPlaceholders.ts";

/** Names that belong to SQLite or to the driver. */
const reserved = /^(?:sqlite_|_wp_sqlite_)/i;
const driverPrefix = "_wp_sqlite_mysql_information_schema_";

type Schema = "main" | "source";

/** Throws `RuntimeFailure` naming the first table that the database doesn't have. */
export function checkTables(database: DatabaseSync, schema: Schema, tables: readonly string[]): void {
  const find = database.prepare(`SELECT sql FROM ${schema}.sqlite_schema WHERE type = 'table' AND name = ?`);
  for (const table of tables) {
    const found = find.get(table);
    if (found === undefined || reserved.test(table)) throw new RuntimeFailure(`The source has no table "${table}".`);
    // Other kinds of tables need extensions and hidden tables.
    if (!/^CREATE TABLE /i.test(String(found.sql))) throw new RuntimeFailure(`The table "${table}" can't be copied.`);
  }
}

/** Returns the columns that are not generated. */
function columnsOf(database: DatabaseSync, schema: Schema, table: string): readonly string[] {
  return database
    .prepare(`PRAGMA ${schema}.table_xinfo(${quoted(table)})`)
    .all()
    .filter((column) => column.hidden === 0)
    .map((column) => String(column.name));
}

function copyRows(database: DatabaseSync, table: string, where = "", values: readonly string[] = []): void {
  const columns = columnsOf(database, "source", table).map(quoted).join(", ");
  database
    .prepare(
      `INSERT INTO main.${quoted(table)} (${columns}) SELECT ${columns} FROM source.${quoted(table)} AS theirs ${where}`,
    )
    .run(...values);
}

/** Returns the SQL that creates the table, its indexes or its triggers, as stored in the source. */
function statementsOf(database: DatabaseSync, table: string, types: readonly string[]): readonly string[] {
  return database
    .prepare("SELECT type, sql FROM source.sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL")
    .all(table)
    .filter(({ type }) => types.includes(String(type)))
    .map(({ sql }) => String(sql));
}

function replaceTable(database: DatabaseSync, table: string): void {
  database.exec(`DROP TABLE IF EXISTS main.${quoted(table)}`);
  for (const sql of statementsOf(database, table, ["table"])) database.prepare(sql).run();
  copyRows(database, table);
  for (const sql of statementsOf(database, table, ["index", "trigger"])) database.prepare(sql).run();
}

/** Copies the highest rowid that was ever assigned. */
function replaceSequence(database: DatabaseSync, table: string): void {
  for (const schema of ["main", "source"] as const) if (!hasTable(database, schema, "sqlite_sequence")) return;
  database.prepare("DELETE FROM main.sqlite_sequence WHERE name = ?").run(table);
  copyRows(database, "sqlite_sequence", "WHERE name = ?", [table]);
}

function hasTable(database: DatabaseSync, schema: Schema, table: string): boolean {
  const found = database.prepare(`SELECT 1 FROM ${schema}.sqlite_schema WHERE type = 'table' AND name = ?`).get(table);
  return found !== undefined;
}

function driverTables(database: DatabaseSync): readonly string[] {
  return database
    .prepare("SELECT name FROM source.sqlite_schema WHERE type = 'table'")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => name.startsWith(driverPrefix) && hasTable(database, "main", name));
}

/** Condition for CHECK rows, which don't name a table: they are found through the table's constraints. */
const ofChecks = (schema: Schema) => `WHERE (CONSTRAINT_SCHEMA, CONSTRAINT_NAME) IN (
  SELECT CONSTRAINT_SCHEMA, CONSTRAINT_NAME FROM ${schema}.${driverPrefix}table_constraints
  WHERE TABLE_NAME = ? AND CONSTRAINT_TYPE = 'CHECK')`;

function replaceDriverRows(database: DatabaseSync, table: string): void {
  const found = driverTables(database);
  const checks = found.filter((name) => name === `${driverPrefix}check_constraints`);
  for (const name of checks) {
    database.prepare(`DELETE FROM main.${name} ${ofChecks("main")}`).run(table);
    copyRows(database, name, ofChecks("source"), [table]);
  }
  for (const name of found) {
    if (!columnsOf(database, "source", name).includes("TABLE_NAME")) continue;
    database.prepare(`DELETE FROM main.${name} WHERE TABLE_NAME = ?`).run(table);
    copyRows(database, name, "WHERE TABLE_NAME = ?", [table]);
  }
}

/**
 * Replaces the tables in one transaction. Both databases are copies that are not in use; `source` is a path. PHP has
 * written their schemas: a statement in them is untrusted, but it is a single one and can't access another file.
 */
export function replaceTables(database: DatabaseSync, source: string, tables: readonly string[]): void {
  database.prepare("ATTACH ? AS source").run(source);
  checkTables(database, "source", tables);
  database.exec("PRAGMA foreign_keys = OFF");
  database.setAuthorizer((action) =>
    action === constants.SQLITE_ATTACH || action === constants.SQLITE_DETACH
      ? constants.SQLITE_DENY
      : constants.SQLITE_OK,
  );
  database.exec("BEGIN IMMEDIATE");
  for (const table of tables) {
    replaceTable(database, table);
    replaceSequence(database, table);
    replaceDriverRows(database, table);
  }
  database.exec("COMMIT");
}
