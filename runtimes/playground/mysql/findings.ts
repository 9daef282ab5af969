/** What is in the columns of a table: one look at every value, before a type is believed to hold them. */
import { isUtf8 } from "node:buffer";
import type { DatabaseSync } from "node:sqlite";
import { quoted } from "../templates/places.ts";
import { bytesOf, checkerOf, isMoment, lettersOf, type Value } from "./fitsColumn.ts";
import { type Column, columnsIn, type TableSchema } from "./schema.ts";

export interface Findings {
  readonly hasNull: boolean;
  /** Whether the type that the column has keeps every value as it is; that texts are UTF-8 is asked for besides. */
  readonly fits: boolean;
  readonly isUtf8: boolean;
  /** Whether every value is a whole number, any number, a date with or without a time. */
  readonly areWhole: boolean;
  readonly areNumbers: boolean;
  readonly areMoments: boolean;
  /** Only letters, digits and signs of ASCII, and no space at the end: two that differ in SQLite differ in any MySQL. */
  readonly isPlain: boolean;
  readonly hasFinalSpace: boolean;
  readonly mostLetters: number;
  readonly mostBytes: number;
}

export const nothingFound: Findings = {
  hasNull: false,
  fits: true,
  isUtf8: true,
  areWhole: true,
  areNumbers: true,
  areMoments: true,
  isPlain: true,
  hasFinalSpace: false,
  mostLetters: 0,
  mostBytes: 0,
};

/** Rows of a table, in no order, one at a time: a text as its bytes. */
export function readRows(database: DatabaseSync, { name, columns }: TableSchema): Iterable<readonly Value[]> {
  // In a database of another encoding the bytes of a text would not be UTF-8.
  const hasBytes = database.prepare("PRAGMA encoding").get()?.encoding === "UTF-8";
  const values = columns
    .map((column) => quoted(column.name))
    .map((column) =>
      hasBytes ? `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) ELSE ${column} END` : column,
    );
  const read = database.prepare(`SELECT ${values.join(", ")} FROM ${quoted(name)} NOT INDEXED`);
  read.setReadBigInts(true);
  read.setReturnArrays(true);
  return valuesIn(read.iterate());
}

function* valuesIn(rows: Iterable<unknown>): Iterable<readonly Value[]> {
  for (const row of rows) if (Array.isArray(row)) yield row.map(stored);
}

function stored(value: unknown): Value {
  if (typeof value === "string") return Buffer.from(value);
  if (typeof value === "bigint" || typeof value === "number" || value instanceof Uint8Array) return value;
  return null;
}

function isPlainText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte >= 0x20 && byte < 0x7f) && bytes.at(-1) !== 0x20;
}

/** Collects what is found of one column; `isKey`: two of its values may not be the same. */
function lookerFor({ type }: Column, isKey: boolean) {
  const fitsColumn = type === null ? () => false : checkerOf(type);
  const found = { ...nothingFound };
  const see = (value: Value): void => {
    if (value === null) {
      found.hasNull = true;
      return;
    }
    const bytes = value instanceof Uint8Array ? value : null;
    found.fits &&= fitsColumn(value);
    found.areWhole &&= typeof value === "bigint";
    found.areNumbers &&= typeof value === "number" || (typeof value === "bigint" && BigInt(Number(value)) === value);
    found.areMoments &&= isMoment(value);
    found.mostBytes = Math.max(found.mostBytes, bytesOf(value));
    if (bytes === null) return;
    if (bytes.byteLength > found.mostLetters) found.mostLetters = Math.max(found.mostLetters, lettersOf(bytes));
    found.isUtf8 &&= isUtf8(bytes);
    if (!isKey) return;
    found.isPlain &&= isPlainText(bytes);
    found.hasFinalSpace ||= bytes.at(-1) === 0x20;
  };
  return { see, found };
}

/** One for each column, in their order. */
export function findIn(database: DatabaseSync, schema: TableSchema): readonly Findings[] {
  const inUnique = columnsIn(schema.keys.filter(({ isUnique }) => isUnique));
  const lookers = schema.columns.map((column) => lookerFor(column, inUnique.has(column.name)));
  for (const row of readRows(database, schema))
    for (const [at, looker] of lookers.entries()) looker.see(row[at] ?? null);
  return lookers.map(({ found }) => found);
}
