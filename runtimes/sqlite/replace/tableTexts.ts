/** Changes the texts of a table row by row, reading only rows with something to change. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { changeBytes } from "../../site/values/serialized.ts";
import { quoted } from "../findPlaceholders.ts";
import type { Table } from "../tables.ts";

type Key = readonly SQLInputValue[];

interface Changed {
  readonly column: string;
  readonly bytes: Buffer;
}

/** Returns the columns that identify rows. A column may have taken one of the names of the rowid. */
export function keyOf(table: Table): readonly string[] {
  if (table.withoutRowid) return table.primaryKey;
  const taken = new Set(table.columns.map((name) => name.toLowerCase()));
  return ["rowid", "_rowid_", "oid"].filter((name) => !taken.has(name)).slice(0, 1);
}

/**
 * Returns the keys of all rows with one of the marks at once: a row that is changed during the iteration may be
 * returned again. `LIKE` would ignore text after a NUL, which precedes the names of PHP's private properties.
 */
function markedRows(database: DatabaseSync, table: Table, marks: readonly string[]): Key[] {
  const marked = (column: string) => marks.map((_, index) => `instr(lower(${column}), ?${index + 1}) > 0`).join(" OR ");
  const conditions = table.columns.map(quoted).map((name) => `(typeof(${name}) = 'text' AND (${marked(name)}))`);
  const key = keyOf(table).map(quoted).join(", ");
  const rows = database.prepare(
    `SELECT ${key} FROM ${quoted(table.name)} NOT INDEXED WHERE ${conditions.join(" OR ")}`,
  );
  rows.setReadBigInts(true);
  return Array.from(rows.iterate(...marks), (row) => Object.values(row));
}

/** Reads texts as bytes, because they may not be UTF-8. */
function rowReader(database: DatabaseSync, table: Table, where: string, change: (text: string) => string) {
  const values = table.columns
    .map(quoted)
    .map((name, index) => `CASE typeof(${name}) WHEN 'text' THEN CAST(${name} AS BLOB) END AS c${index}`);
  const read = database.prepare(`SELECT ${values.join(", ")} FROM ${quoted(table.name)} WHERE ${where}`);
  return (key: Key): Changed[] => {
    const row = read.get(...key) ?? {};
    return table.columns.flatMap((column, index) => {
      const value = row[`c${index}`];
      if (!(value instanceof Uint8Array)) return [];
      const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1");
      const changed = changeBytes(text, change);
      return changed === text ? [] : [{ column, bytes: Buffer.from(changed, "latin1") }];
    });
  };
}

/** Returns a function that writes a row, and tells whether the row could be changed. */
export function rowWriter(database: DatabaseSync, table: Table, where: string) {
  const statements = new Map<string, StatementSync>();
  return (key: Key, changed: readonly Changed[]): boolean => {
    const values = changed.map(({ column }) => `${quoted(column)} = CAST(? AS TEXT)`).join(", ");
    const write =
      statements.get(values) ?? database.prepare(`UPDATE OR IGNORE ${quoted(table.name)} SET ${values} WHERE ${where}`);
    statements.set(values, write);
    return Number(write.run(...changed.map(({ bytes }) => bytes), ...key).changes) > 0;
  };
}

/**
 * Applies `change` to every text with one of the marks, which are in lower case. A text stays if the change would
 * violate a constraint of the table. Returns the number of changed rows.
 */
export function changeTexts(
  database: DatabaseSync,
  table: Table,
  marks: readonly string[],
  change: (text: string) => string,
): number {
  const where = keyOf(table)
    .map((name) => `${quoted(name)} = ?`)
    .join(" AND ");
  const read = rowReader(database, table, where, change);
  const write = rowWriter(database, table, where);
  return markedRows(database, table, marks).filter((key) => {
    const changed = read(key);
    if (changed.length === 0) return false;
    // Key columns are changed last, because the other changes find the row by its key.
    const keysLast = changed.toSorted((one, other) => rank(table, one) - rank(table, other));
    return write(key, changed) || keysLast.filter((one) => write(key, [one])).length > 0;
  }).length;
}

function rank(table: Table, changed: Changed): number {
  return table.primaryKey.indexOf(changed.column);
}
