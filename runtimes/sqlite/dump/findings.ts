/** Examines every value in the columns of a table, to choose types that can store them. */
import { isUtf8 } from "node:buffer";
import type { DatabaseSync } from "node:sqlite";
import { quoted } from "../findPlaceholders.ts";
import { byteCount, characterCount, createChecker, isDate, type Value } from "./fitsColumn.ts";
import { type Column, columnsIn, type TableSchema } from "./schema.ts";

export interface Findings {
  readonly hasNull: boolean;
  /** Whether the declared type stores every value unchanged. UTF-8 is checked separately. */
  readonly fits: boolean;
  readonly isUtf8: boolean;
  /** Whether every value is an integer, a number, a date with or without a time. */
  readonly areIntegers: boolean;
  readonly areNumbers: boolean;
  readonly areDates: boolean;
  /** Only printable ASCII without trailing spaces: values that differ in SQLite also differ in MySQL. */
  readonly isPrintableAscii: boolean;
  readonly hasTrailingSpace: boolean;
  readonly maxCharacters: number;
  readonly maxBytes: number;
}

export const noFindings: Findings = {
  hasNull: false,
  fits: true,
  isUtf8: true,
  areIntegers: true,
  areNumbers: true,
  areDates: true,
  isPrintableAscii: true,
  hasTrailingSpace: false,
  maxCharacters: 0,
  maxBytes: 0,
};

/** Reads the rows of a table one at a time, in no particular order. Texts are returned as bytes. */
export function readRows(database: DatabaseSync, { name, columns }: TableSchema): Iterable<readonly Value[]> {
  // With another database encoding, the bytes of a text would not be UTF-8.
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

function isPrintableAsciiText(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte >= 0x20 && byte < 0x7f) && bytes.at(-1) !== 0x20;
}

/** Collects findings on one column. `isKey`: its values must be unique. */
function createCollector({ type }: Column, isKey: boolean) {
  const fitsColumn = type === null ? () => false : createChecker(type);
  const found = { ...noFindings };
  const see = (value: Value): void => {
    if (value === null) {
      found.hasNull = true;
      return;
    }
    const bytes = value instanceof Uint8Array ? value : null;
    found.fits &&= fitsColumn(value);
    found.areIntegers &&= typeof value === "bigint";
    found.areNumbers &&= typeof value === "number" || (typeof value === "bigint" && BigInt(Number(value)) === value);
    found.areDates &&= isDate(value);
    found.maxBytes = Math.max(found.maxBytes, byteCount(value));
    if (bytes === null) return;
    if (bytes.byteLength > found.maxCharacters)
      found.maxCharacters = Math.max(found.maxCharacters, characterCount(bytes));
    found.isUtf8 &&= isUtf8(bytes);
    if (!isKey) return;
    found.isPrintableAscii &&= isPrintableAsciiText(bytes);
    found.hasTrailingSpace ||= bytes.at(-1) === 0x20;
  };
  return { see, found };
}

/** Examines a table. Returns one result per column, in their order. */
export function collectFindings(database: DatabaseSync, schema: TableSchema): readonly Findings[] {
  const inUnique = columnsIn(schema.keys.filter(({ isUnique }) => isUnique));
  const collectors = schema.columns.map((column) => createCollector(column, inUnique.has(column.name)));
  for (const row of readRows(database, schema))
    for (const [at, collector] of collectors.entries()) collector.see(row[at] ?? null);
  return collectors.map(({ found }) => found);
}
