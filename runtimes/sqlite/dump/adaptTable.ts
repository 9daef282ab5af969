/**
 * Adapts a table's schema to MySQL: changes only what MySQL would refuse or what would alter stored values. Each change
 * adds a sentence for the person who imports the dump.
 */
import { type ColumnType, isLong, typeNamed, widthOf, writeType } from "./columnType.ts";
import { type Findings, noFindings } from "./findings.ts";
import { createChecker } from "./fitsColumn.ts";
import { type Column, columnsIn, type Key, type KeyPart, type TableSchema } from "./schema.ts";

export interface AdaptedColumn extends Omit<Column, "type" | "isComputed"> {
  readonly type: ColumnType;
}

export interface AdaptedTable extends Omit<TableSchema, "columns" | "keys" | "checks"> {
  readonly columns: readonly AdaptedColumn[];
  readonly keys: readonly Key[];
  readonly notes: readonly string[];
}

/** Longest text that stays in its row, where it can have a default and be indexed completely. */
const shortText = 1_000;
/** MySQL's limit for a row, with some reserve for differences in counting. */
const maxRowBytes = 65_000;
const maxKeyBytes = 3_072;
/** Prefix of indexed long texts, in characters of four bytes. WordPress uses the same. */
const defaultPrefix = 191;

function textOfLength(characters: number): ColumnType {
  return characters <= shortText ? typeNamed("varchar", Math.max(1, characters)) : typeNamed("longtext");
}

function bytesOfLength(bytes: number): ColumnType {
  return bytes <= maxKeyBytes ? typeNamed("varbinary", Math.max(1, bytes)) : typeNamed("longblob");
}

/** Returns a binary type for content that may not be UTF-8. */
function asBytes(type: ColumnType, { maxBytes }: Findings): ColumnType {
  if (!isLong(type)) return bytesOfLength(Math.max(maxBytes, type.length ?? 1));
  return typeNamed(maxBytes > 65_535 || /^(medium|long)/.test(type.base) ? "longblob" : "blob");
}

function widened(type: ColumnType | null, found: Findings): ColumnType {
  if (found.maxBytes === 0) return typeNamed("longtext");
  if (found.areIntegers) return typeNamed("bigint");
  if (found.areNumbers) return typeNamed("double");
  if (found.areDates && type?.family === "date") return typeNamed("datetime", 6);
  if (type?.family === "binary" || !found.isUtf8) return bytesOfLength(found.maxBytes);
  return textOfLength(found.maxCharacters);
}

function isText({ family }: ColumnType): boolean {
  return family === "text" || family === "choice";
}

/**
 * Returns the type for MySQL. `isKey`: the column has a unique key, so values that differ in SQLite must also differ in
 * MySQL.
 */
function adaptType(type: ColumnType | null, found: Findings, isKey: boolean): ColumnType {
  const kept = type !== null && found.fits ? type : widened(type, found);
  if (!isText(kept)) return kept;
  return found.isUtf8 && !(isKey && found.hasTrailingSpace) ? kept : asBytes(kept, found);
}

/** Returns the default value, or null if MySQL would refuse it. */
function adaptDefault(column: Column, type: ColumnType): string | null {
  if (column.default === null || column.isComputed || column.isAutoIncrement || isLong(type)) return null;
  if (column.default === "CURRENT_TIMESTAMP") return /^(datetime|timestamp)$/.test(type.base) ? column.default : null;
  if (type.family === "bit") return /^b'[01]{1,64}'$/.test(column.default) ? column.default : null;
  return createChecker(type)(Buffer.from(column.default)) ? column.default : null;
}

interface Role {
  /** In a unique key. */
  readonly isKey: boolean;
  readonly isPrimary: boolean;
}

function adaptColumn(column: Column, found: Findings, { isKey, isPrimary }: Role): AdaptedColumn {
  const { isComputed: _, ...rest } = column;
  const type = adaptType(column.type, found, isKey);
  return {
    ...rest,
    type,
    // Under a less exact collation than SQLite's, two values could become duplicates.
    collation: isText(type) && isKey && !found.isPrintableAscii ? "utf8mb4_bin" : column.collation,
    isNullable: found.hasNull || (column.isNullable && !isPrimary),
    default: adaptDefault(column, type),
    isAutoIncrement: column.isAutoIncrement && type.family === "integer",
    isUpdatedOnChange: column.isUpdatedOnChange && /^(datetime|timestamp)$/.test(type.base),
  };
}

/** Moves the longest texts and blobs out of the row until MySQL accepts its size. */
function fitRow(columns: readonly AdaptedColumn[], keyed: ReadonlySet<string>): readonly AdaptedColumn[] {
  const width = columns.reduce((sum, { type }) => sum + widthOf(type), 0);
  if (width <= maxRowBytes) return columns;
  const widest = columns
    .filter(
      ({ name, type }) => !keyed.has(name) && !isLong(type) && (type.family === "text" || type.family === "binary"),
    )
    .toSorted((one, other) => widthOf(other.type) - widthOf(one.type))[0];
  if (widest === undefined) return columns;
  const type = typeNamed(widest.type.family === "text" ? "mediumtext" : "mediumblob");
  return fitRow(
    columns.map((column) => (column === widest ? { ...column, type, default: null } : column)),
    keyed,
  );
}

interface Settled {
  readonly column: AdaptedColumn;
  readonly found: Findings;
}

function canHavePrefix({ type }: AdaptedColumn): boolean {
  return type.family === "text" || type.family === "binary";
}

/** Length in the unit of a prefix: characters or bytes. */
function lengthOf({ type: { length } }: AdaptedColumn): number {
  return length ?? Number.POSITIVE_INFINITY;
}

function bytesPerUnit({ type }: AdaptedColumn): number {
  return type.family === "text" ? 4 : 1;
}

function partBytes({ prefix }: KeyPart, column: AdaptedColumn): number {
  return canHavePrefix(column) ? Math.min(prefix ?? lengthOf(column), lengthOf(column)) * bytesPerUnit(column) : 32;
}

/** Adds a prefix if MySQL requires one, and removes it if MySQL forbids one. */
function adaptPart({ column: name, prefix }: KeyPart, column: AdaptedColumn, limit: number): KeyPart {
  if (!canHavePrefix(column)) return { column: name, prefix: null };
  const wanted = prefix ?? (isLong(column.type) ? defaultPrefix : lengthOf(column));
  const length = Math.min(wanted, Math.floor(limit / bytesPerUnit(column)));
  return { column: name, prefix: length < lengthOf(column) ? length : null };
}

/** Whether every value fits in the key's prefix. */
function fitsPrefix({ prefix }: KeyPart, { column, found }: Settled): boolean {
  return prefix === null || (column.type.family === "text" ? found.maxCharacters : found.maxBytes) <= prefix;
}

/** Adapts a key, or returns null if MySQL doesn't support it. */
function adaptKey(key: Key, columns: ReadonlyMap<string, Settled>): Key | null {
  const known = key.parts.flatMap((part) => {
    const adapted = columns.get(part.column);
    return adapted === undefined ? [] : [{ part, adapted }];
  });
  if (known.length === 0 || known.length < key.parts.length || key.kind === "other") return null;
  if (known.some(({ adapted: { column } }) => column.type.family === "json")) return null;
  if (key.kind === "fulltext") {
    const isPossible = known.every(({ adapted: { column } }) => column.type.family === "text");
    return isPossible ? { ...key, parts: key.parts.map(({ column }) => ({ column, prefix: null })) } : null;
  }
  const sum = known.reduce((bytes, { part, adapted }) => bytes + partBytes(part, adapted.column), 0);
  // If the columns together are too long, each gets a share of the limit.
  const limit = sum > maxKeyBytes ? Math.floor(defaultPrefix * 4 * Math.min(1, 4 / known.length)) : maxKeyBytes;
  const parts = known.map(({ part, adapted }) => adaptPart(part, adapted.column, limit));
  const isUnique =
    key.isUnique && known.every(({ adapted }, at) => fitsPrefix(parts[at] ?? { column: "", prefix: 0 }, adapted));
  if (key.name !== "PRIMARY") return { ...key, isUnique, parts };
  const isPrimary = isUnique && known.every(({ adapted: { column } }) => !column.isNullable);
  return isPrimary ? { ...key, parts } : { ...key, name: "was_primary", isUnique, parts };
}

function columnNote(table: string, column: Column, adapted: AdaptedColumn, found: Findings): string[] {
  const before = column.type === null ? "an unsupported type" : writeType(column.type);
  const after = writeType(adapted.type);
  const name = `\`${table}\`.\`${column.name}\``;
  if (before !== after) {
    const reason = found.isUtf8 ? "MySQL would truncate or change values" : "it contains bytes that are not UTF-8";
    return [`${name} is ${after} instead of ${before}, because ${reason}.`];
  }
  const hadDefault =
    column.default !== null && adapted.default === null && !isLong(adapted.type) && !column.isAutoIncrement;
  return hadDefault ? [`${name} has no default value, because MySQL does not accept the original one.`] : [];
}

function sameKey(one: Key, other: Key | null): boolean {
  return other !== null && one.name === other.name && one.isUnique === other.isUnique;
}

/** Adapts a table. `findings` are in the order of the columns. */
export function adaptTable(schema: TableSchema, findings: readonly Findings[]): AdaptedTable {
  const { columns: described, checks, ...rest } = schema;
  const unique = columnsIn(schema.keys.filter(({ isUnique }) => isUnique));
  const primary = columnsIn(schema.keys.filter(({ name }) => name === "PRIMARY"));
  const foundOf = (at: number) => findings[at] ?? noFindings;
  const columns = fitRow(
    described.map((column, at) => {
      const role = { isKey: unique.has(column.name), isPrimary: primary.has(column.name) };
      return adaptColumn(column, foundOf(at), role);
    }),
    columnsIn(schema.keys),
  );
  const byName = new Map(columns.map((column, at) => [column.name, { column, found: foundOf(at) }]));
  const adaptedKeys = schema.keys.map((key) => adaptKey(key, byName));
  const autoIncrement = columns.find(({ isAutoIncrement }) => isAutoIncrement);
  const keys = adaptedKeys.filter((key) => key !== null);
  const isAutoIncrementIndexed = keys.some(
    ({ kind, parts }) => kind === "plain" && parts[0]?.column === autoIncrement?.name,
  );
  const autoIncrementKey: Key[] =
    autoIncrement === undefined || isAutoIncrementIndexed
      ? []
      : [{ name: "counted", isUnique: true, kind: "plain", parts: [{ column: autoIncrement.name, prefix: null }] }];
  const notes = [
    ...described.flatMap((column, at) => {
      const adapted = columns[at];
      return adapted === undefined || !schema.isDescribed ? [] : columnNote(schema.name, column, adapted, foundOf(at));
    }),
    ...schema.keys
      .filter((key, at) => !sameKey(key, adaptedKeys[at] ?? null))
      .map(
        ({ name }) =>
          `The key \`${name}\` of \`${schema.name}\` is left out, or not unique, because MySQL does not support it.`,
      ),
    ...checks.map((name) => `The CHECK constraint \`${name}\` of \`${schema.name}\` is left out.`),
  ];
  return { ...rest, columns, keys: [...keys, ...autoIncrementKey], notes };
}
