/**
 * Replaces a text everywhere in a database that is not in use, in one transaction, a few hundred rows at a time. Keys
 * stay, because other rows refer to them; so do credentials: a changed hash would lock users out.
 */
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from "node:sqlite";
import type { Replacements, TextChange } from "../../runtime.ts";
import { marksOf, textReplacer } from "../../site/values/replaceText.ts";
import { siteAddresses } from "../address/siteAddresses.ts";
import { nameKey, readSchema } from "../dump/schema.ts";
import { quoted } from "../findPlaceholders.ts";
import { siteTables, type Table } from "../tables.ts";
import { makeCommitsDurable } from "../withDatabase.ts";
import { keyOf, rowWriter } from "./tableTexts.ts";

const pageRows = 300;
const maxListed = 100;
/** Longer values are not written by people, and would need too much memory. */
const maxValueBytes = 100 << 20;

const credentialColumns = new Set(["user_pass", "user_activation_key"]);
const credentialKeys = ["session_tokens", "_application_passwords"];

type Key = readonly SQLInputValue[];

interface Found {
  readonly column: string;
  readonly bytes: Buffer;
  readonly replaced: number;
  readonly kept: number;
}

class Tally {
  readonly #places = new Map<string, { table: string; column: string; rows: number; occurrences: number }>();
  readonly #listed: Replacements["skipped"]["listed"][number][] = [];
  #skipped = 0;

  replaced(table: string, column: string, occurrences: number): void {
    const name = `${table}\0${column}`;
    const place = this.#places.get(name) ?? { table, column, rows: 0, occurrences: 0 };
    place.rows += 1;
    place.occurrences += occurrences;
    this.#places.set(name, place);
  }

  skipped(table: string, column: string, key: Key, occurrences: number): void {
    this.#skipped += occurrences;
    if (this.#listed.length < maxListed)
      this.#listed.push({ table, column, row: key.map(String).join(", "), occurrences });
  }

  outcome(addresses: Replacements["addresses"]): Replacements {
    const places = [...this.#places.values()];
    return { places, skipped: { occurrences: this.#skipped, listed: this.#listed }, addresses };
  }
}

/** Returns a function that lists the text columns of a table in MySQL's terms, without key columns and credentials. */
function textColumns(database: DatabaseSync): (table: Table) => readonly string[] {
  const schema = new Map(readSchema(database).map((table) => [table.name, table]));
  return ({ name, columns, primaryKey }) => {
    const types = new Map(schema.get(name)?.columns.map((column) => [nameKey(column.name), column.type?.family]));
    return columns.filter((column) => {
      const family = types.get(nameKey(column));
      const isText = family === undefined || family === "text" || family === "json";
      return isText && !primaryKey.includes(column) && !credentialColumns.has(column);
    });
  };
}

/** Returns an SQL condition for rows with a match. Its parameters are the marks. */
function conditionFor({ columns }: Table, texts: readonly string[], marks: number): string {
  const marked = (column: string) =>
    Array.from({ length: marks }, (_, index) => `instr(${column}, ?${index + 1}) > 0`).join(" OR ");
  const found = texts.map(quoted).map((name) => `(typeof(${name}) = 'text' AND (${marked(name)}))`);
  const isMeta = columns.includes("meta_key") && columns.includes("user_id");
  const exclusion = isMeta ? ` AND meta_key NOT IN (${credentialKeys.map((key) => `'${key}'`).join(", ")})` : "";
  return `(${found.join(" OR ")})${exclusion}`;
}

/** Iterates over the keys of these rows in order, page by page. The replacements don't change keys. */
function* keysIn(
  database: DatabaseSync,
  table: Table,
  texts: readonly string[],
  marks: readonly string[],
): Iterable<Key> {
  const key = keyOf(table).map(quoted);
  const condition = conditionFor(table, texts, marks.length);
  const page = (after: string) => {
    const statement = database.prepare(
      `SELECT ${key.join(", ")} FROM ${quoted(table.name)} NOT INDEXED WHERE ${after}${condition}` +
        ` ORDER BY ${key.join(", ")} LIMIT ${pageRows}`,
    );
    statement.setReadBigInts(true);
    return statement;
  };
  const places = key.map((_, index) => `?${marks.length + index + 1}`).join(", ");
  const first = page("");
  const next = page(`(${key.join(", ")}) > (${places}) AND `);
  for (let rows = first.all(...marks); rows.length > 0; ) {
    const keys = rows.map((row): SQLOutputValue[] => Object.values(row));
    yield* keys;
    rows = next.all(...marks, ...(keys.at(-1) ?? []));
  }
}

function readerFor(database: DatabaseSync, table: Table, texts: readonly string[], where: string) {
  const values = texts.map(quoted).map((name, index) => {
    const isShort = `octet_length(${name}) <= ${maxValueBytes}`;
    return `CASE WHEN typeof(${name}) = 'text' AND ${isShort} THEN CAST(${name} AS BLOB) END AS c${index}`;
  });
  return database.prepare(`SELECT ${values.join(", ")} FROM ${quoted(table.name)} WHERE ${where}`);
}

function replaceInTable(
  database: DatabaseSync,
  table: Table,
  texts: readonly string[],
  change: TextChange,
  tally: Tally,
) {
  const where = keyOf(table)
    .map((name) => `${quoted(name)} = ?`)
    .join(" AND ");
  const read = readerFor(database, table, texts, where);
  const write = rowWriter(database, table, where);
  const replace = textReplacer(change);
  for (const key of keysIn(database, table, texts, marksOf(change))) {
    const row = read.get(...key) ?? {};
    const found = texts.flatMap((column, index): Found[] => {
      const value = row[`c${index}`];
      if (!(value instanceof Uint8Array)) return [];
      const { text, replaced, kept } = replace(
        Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1"),
      );
      return replaced + kept === 0 ? [] : [{ column, bytes: Buffer.from(text, "latin1"), replaced, kept }];
    });
    const changed = found.filter(({ replaced }) => replaced > 0);
    const isRowWritten = changed.length > 0 && write(key, changed);
    for (const one of found) {
      const isWritten = one.replaced > 0 && (isRowWritten || write(key, [one]));
      if (isWritten) tally.replaced(table.name, one.column, one.replaced);
      const kept = one.kept + (isWritten ? 0 : one.replaced);
      if (kept > 0) tally.skipped(table.name, one.column, key, kept);
    }
  }
}

/** Replaces the text in a database file that is not in use. */
export function replaceTexts(file: string, change: TextChange): Replacements {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  try {
    makeCommitsDurable(database);
    database.exec("BEGIN IMMEDIATE");
    const before = siteAddresses(database);
    const textsOf = textColumns(database);
    const tally = new Tally();
    for (const table of siteTables(database)) {
      const texts = textsOf(table);
      if (texts.length > 0 && keyOf(table).length > 0) replaceInTable(database, table, texts, change, tally);
    }
    const after = siteAddresses(database);
    database.exec("COMMIT");
    const moved = [...before].map(([place, from]) => ({ place, from, to: after.get(place) ?? "" }));
    return tally.outcome(moved.filter(({ from, to }) => from !== to));
  } finally {
    database.close();
  }
}
