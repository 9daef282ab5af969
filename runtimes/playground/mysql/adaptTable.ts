/**
 * What a table becomes in MySQL: as its schema says, but for what MySQL would refuse, or what would change a value that is
 * there. Each departure is a sentence for whoever imports it.
 */
import { type ColumnType, isLong, typeNamed, widthOf, writeType } from "./columnType.ts";
import { type Findings, nothingFound } from "./findings.ts";
import { checkerOf } from "./fitsColumn.ts";
import { type Column, columnsIn, type Key, type KeyPart, type TableSchema } from "./schema.ts";

export interface AdaptedColumn extends Omit<Column, "type" | "isComputed"> {
  readonly type: ColumnType;
}

export interface AdaptedTable extends Omit<TableSchema, "columns" | "keys" | "checks"> {
  readonly columns: readonly AdaptedColumn[];
  readonly keys: readonly Key[];
  readonly notes: readonly string[];
}

/** Up to so many letters a text stays in its row, where it can have a default and be a key as a whole. */
const shortText = 1_000;
/** What MySQL takes as a row, with something left for what is counted otherwise. */
const widestRow = 65_000;
const widestKey = 3_072;
/** Letters of four bytes; as WordPress itself has it. */
const usualPrefix = 191;

function textOfLength(letters: number): ColumnType {
  return letters <= shortText ? typeNamed("varchar", Math.max(1, letters)) : typeNamed("longtext");
}

function bytesOfLength(bytes: number): ColumnType {
  return bytes <= widestKey ? typeNamed("varbinary", Math.max(1, bytes)) : typeNamed("longblob");
}

/** For the same content, whether it is UTF-8 or not. */
function asBytes(type: ColumnType, { mostBytes }: Findings): ColumnType {
  if (!isLong(type)) return bytesOfLength(Math.max(mostBytes, type.length ?? 1));
  return typeNamed(mostBytes > 65_535 || /^(medium|long)/.test(type.base) ? "longblob" : "blob");
}

function widened(type: ColumnType | null, found: Findings): ColumnType {
  if (found.mostBytes === 0) return typeNamed("longtext");
  if (found.areWhole) return typeNamed("bigint");
  if (found.areNumbers) return typeNamed("double");
  if (found.areMoments && type?.family === "moment") return typeNamed("datetime", 6);
  if (type?.family === "binary" || !found.isUtf8) return bytesOfLength(found.mostBytes);
  return textOfLength(found.mostLetters);
}

function isText({ family }: ColumnType): boolean {
  return family === "text" || family === "choice";
}

/** `isKey`: a unique key is on it, so that two values which SQLite tells apart must differ in MySQL too. */
function settledType(type: ColumnType | null, found: Findings, isKey: boolean): ColumnType {
  const kept = type !== null && found.fits ? type : widened(type, found);
  if (!isText(kept)) return kept;
  return found.isUtf8 && !(isKey && found.hasFinalSpace) ? kept : asBytes(kept, found);
}

/** Null if MySQL would refuse it. */
function settledDefault(column: Column, type: ColumnType): string | null {
  if (column.default === null || column.isComputed || column.isCounted || isLong(type)) return null;
  if (column.default === "CURRENT_TIMESTAMP") return /^(datetime|timestamp)$/.test(type.base) ? column.default : null;
  if (type.family === "bit") return /^b'[01]{1,64}'$/.test(column.default) ? column.default : null;
  return checkerOf(type)(Buffer.from(column.default)) ? column.default : null;
}

interface Role {
  /** In a unique key. */
  readonly isKey: boolean;
  readonly isPrimary: boolean;
}

function adaptColumn(column: Column, found: Findings, { isKey, isPrimary }: Role): AdaptedColumn {
  const { isComputed: _, ...rest } = column;
  const type = settledType(column.type, found, isKey);
  return {
    ...rest,
    type,
    // A collation that tells fewer texts apart than SQLite does would refuse one of them.
    collation: isText(type) && isKey && !found.isPlain ? "utf8mb4_bin" : column.collation,
    isNullable: found.hasNull || (column.isNullable && !isPrimary),
    default: settledDefault(column, type),
    isCounted: column.isCounted && type.family === "integer",
    isTouched: column.isTouched && /^(datetime|timestamp)$/.test(type.base),
  };
}

/** Long ones first, until the row is one that MySQL takes. */
function fitRow(columns: readonly AdaptedColumn[], keyed: ReadonlySet<string>): readonly AdaptedColumn[] {
  const width = columns.reduce((sum, { type }) => sum + widthOf(type), 0);
  if (width <= widestRow) return columns;
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

/** In the unit that a prefix has. */
function lengthOf({ type: { length } }: AdaptedColumn): number {
  return length ?? Number.POSITIVE_INFINITY;
}

function letterBytes({ type }: AdaptedColumn): number {
  return type.family === "text" ? 4 : 1;
}

function partBytes({ prefix }: KeyPart, column: AdaptedColumn): number {
  return canHavePrefix(column) ? Math.min(prefix ?? lengthOf(column), lengthOf(column)) * letterBytes(column) : 32;
}

/** A prefix where there must be one, and none if there may be none. */
function adaptPart({ column: name, prefix }: KeyPart, column: AdaptedColumn, limit: number): KeyPart {
  if (!canHavePrefix(column)) return { column: name, prefix: null };
  const wanted = prefix ?? (isLong(column.type) ? usualPrefix : lengthOf(column));
  const length = Math.min(wanted, Math.floor(limit / letterBytes(column)));
  return { column: name, prefix: length < lengthOf(column) ? length : null };
}

/** Whether no value is longer than what the key looks at. */
function isWhole({ prefix }: KeyPart, { column, found }: Settled): boolean {
  return prefix === null || (column.type.family === "text" ? found.mostLetters : found.mostBytes) <= prefix;
}

/** Null if MySQL could not have it. */
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
  // Where they are too long together, each gets its share.
  const limit = sum > widestKey ? Math.floor(usualPrefix * 4 * Math.min(1, 4 / known.length)) : widestKey;
  const parts = known.map(({ part, adapted }) => adaptPart(part, adapted.column, limit));
  const isUnique =
    key.isUnique && known.every(({ adapted }, at) => isWhole(parts[at] ?? { column: "", prefix: 0 }, adapted));
  if (key.name !== "PRIMARY") return { ...key, isUnique, parts };
  const isPrimary = isUnique && known.every(({ adapted: { column } }) => !column.isNullable);
  return isPrimary ? { ...key, parts } : { ...key, name: "was_primary", isUnique, parts };
}

function columnNote(table: string, column: Column, adapted: AdaptedColumn, found: Findings): string[] {
  const was = column.type === null ? "a type that is not carried over" : writeType(column.type);
  const is = writeType(adapted.type);
  const place = `\`${table}\`.\`${column.name}\``;
  if (was !== is) {
    const reason = found.isUtf8 ? "MySQL would not have kept all that is in it" : "it holds bytes that are not UTF-8";
    return [`${place} is ${is} instead of ${was}, because ${reason}.`];
  }
  const hadDefault = column.default !== null && adapted.default === null && !isLong(adapted.type) && !column.isCounted;
  return hadDefault ? [`${place} has no default, because MySQL would not take the one that it had.`] : [];
}

function sameKey(one: Key, other: Key | null): boolean {
  return other !== null && one.name === other.name && one.isUnique === other.isUnique;
}

/** Findings are in the order of the columns. */
export function adaptTable(schema: TableSchema, findings: readonly Findings[]): AdaptedTable {
  const { columns: described, checks, ...rest } = schema;
  const unique = columnsIn(schema.keys.filter(({ isUnique }) => isUnique));
  const primary = columnsIn(schema.keys.filter(({ name }) => name === "PRIMARY"));
  const foundOf = (at: number) => findings[at] ?? nothingFound;
  const columns = fitRow(
    described.map((column, at) => {
      const role = { isKey: unique.has(column.name), isPrimary: primary.has(column.name) };
      return adaptColumn(column, foundOf(at), role);
    }),
    columnsIn(schema.keys),
  );
  const byName = new Map(columns.map((column, at) => [column.name, { column, found: foundOf(at) }]));
  const settledKeys = schema.keys.map((key) => adaptKey(key, byName));
  const counted = columns.find(({ isCounted }) => isCounted);
  const keys = settledKeys.filter((key) => key !== null);
  const isCountedFirst = keys.some(({ kind, parts }) => kind === "usual" && parts[0]?.column === counted?.name);
  const counting: Key[] =
    counted === undefined || isCountedFirst
      ? []
      : [{ name: "counted", isUnique: true, kind: "usual", parts: [{ column: counted.name, prefix: null }] }];
  const notes = [
    ...described.flatMap((column, at) => {
      const adapted = columns[at];
      return adapted === undefined || !schema.isDescribed ? [] : columnNote(schema.name, column, adapted, foundOf(at));
    }),
    ...schema.keys
      .filter((key, at) => !sameKey(key, settledKeys[at] ?? null))
      .map(
        ({ name }) => `The key \`${name}\` of \`${schema.name}\` is left out, or not unique, as it can't be in MySQL.`,
      ),
    ...checks.map((name) => `The rule \`${name}\` on values of \`${schema.name}\` is left out.`),
  ];
  return { ...rest, columns, keys: [...keys, ...counting], notes };
}
