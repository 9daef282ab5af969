/** Finds the placeholders in a template's database, once for each template. */
import { DatabaseSync } from "node:sqlite";
import type { PlaceholderPosition } from "../site/template.ts";
import { placeholderMark } from "../site/values/placeholders.ts";

/** Quotes an SQL identifier. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function textColumns(database: DatabaseSync, table: string): string[] {
  return database
    .prepare(`PRAGMA table_info(${quoted(table)})`)
    .all()
    .map((column) => String(column.name));
}

/** Returns every text value that contains the mark, ignoring case. */
export function findPlaceholders(database: DatabaseSync): PlaceholderPosition[] {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return tables.flatMap(({ name }) => {
    const table = String(name);
    return textColumns(database, table).flatMap((column) =>
      database
        .prepare(`SELECT rowid AS place FROM ${quoted(table)} WHERE CAST(${quoted(column)} AS TEXT) LIKE ?`)
        .all(`%${placeholderMark}%`)
        .map((row) => ({ table, column, rowid: Number(row.place) })),
    );
  });
}

/** Finds the placeholders in a database file that is not in use, and compacts it. */
export function findPlaceholdersInFile(file: string): PlaceholderPosition[] {
  const database = new DatabaseSync(file);
  try {
    database.exec("VACUUM");
    return findPlaceholders(database);
  } finally {
    database.close();
  }
}
