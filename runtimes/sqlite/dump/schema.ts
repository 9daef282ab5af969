/**
 * Describes the tables of a SQLite database in MySQL's terms. WordPress's SQLite driver stores the MySQL schema in
 * its own tables; of other tables only the SQLite schema is known. PHP writes both, so neither is trusted.
 */
import type { DatabaseSync } from "node:sqlite";
import { siteTables, type Table } from "../tables.ts";
import { type ColumnType, parseType, typeNamed } from "./columnType.ts";

export interface Column {
  readonly name: string;
  /** Null if the stored type is not supported. */
  readonly type: ColumnType | null;
  readonly collation: string | null;
  readonly isNullable: boolean;
  readonly default: string | null;
  /** The default is an expression other than `CURRENT_TIMESTAMP`. */
  readonly isComputed: boolean;
  readonly isAutoIncrement: boolean;
  readonly isUpdatedOnChange: boolean;
  readonly comment: string;
}

export interface KeyPart {
  readonly column: string;
  /** Length of the indexed prefix in characters or bytes; null: the whole value. */
  readonly prefix: number | null;
}

export interface Key {
  /** `PRIMARY` for the primary key. */
  readonly name: string;
  readonly isUnique: boolean;
  readonly kind: "plain" | "fulltext" | "other";
  readonly parts: readonly KeyPart[];
}

export interface ForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly table: string;
  readonly references: readonly string[];
  readonly onDelete: string;
  readonly onUpdate: string;
}

export interface TableSchema {
  readonly name: string;
  /** Whether the driver has its MySQL schema. */
  readonly isDescribed: boolean;
  readonly columns: readonly Column[];
  readonly keys: readonly Key[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly collation: string;
  readonly comment: string;
  /** The next AUTO_INCREMENT value. */
  readonly next: bigint | null;
  /** Names of CHECK constraints, which are not exported. */
  readonly checks: readonly string[];
}

type Row = Readonly<Record<string, unknown>>;
type Rows = (name: string, columns: readonly string[]) => Map<string, Row[]>;

/** Returns the columns that are part of at least one key. */
export function columnsIn(keys: readonly Key[]): ReadonlySet<string> {
  return new Set(keys.flatMap(({ parts }) => parts.map(({ column }) => column)));
}

/** Normalises a name for comparison: SQLite ignores case in names of tables and columns. */
export function nameKey(name: string): string {
  return name.toLowerCase();
}

const prefix = "_wp_sqlite_mysql_information_schema_";

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function whole(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}

/** Reads the driver's schema, by table. Empty if the driver has no such table. */
function readerOf(database: DatabaseSync): Rows {
  const isTable = database.prepare(
    "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name = ?",
  );
  const columnNames = database.prepare("SELECT name FROM pragma_table_info(?)");
  return (name, columns) => {
    const table = prefix + name;
    if (isTable.get(table) === undefined) return new Map();
    const existing = new Set(columnNames.all(table).map((column) => nameKey(text(column.name))));
    if (!columns.every((column) => existing.has(column))) return new Map();
    const wanted = columns.map((column) => `"${column}" AS "${column}"`).join(", ");
    const rows: Row[] = database.prepare(`SELECT ${wanted} FROM "${table}"`).all();
    return Map.groupBy(rows, (row) => nameKey(text(row.table_name)));
  };
}

const collations = ["utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci", "utf8mb4_general_ci", "utf8mb4_bin"];
const defaultCollation = "utf8mb4_unicode_520_ci";

/** Returns a collation that all versions of MySQL and MariaDB have. */
function portable(collation: string): string {
  if (collations.includes(collation)) return collation;
  return /_(bin|cs)$/.test(collation) ? "utf8mb4_bin" : defaultCollation;
}

function columnFrom(row: Row): Column {
  const extra = text(row.extra).toLowerCase();
  const type = parseType(text(row.column_type));
  const collation = text(row.collation_name);
  return {
    name: text(row.column_name),
    type,
    collation: collation === "" ? null : portable(collation),
    isNullable: text(row.is_nullable) !== "NO",
    default: typeof row.column_default === "string" ? row.column_default : null,
    isComputed: extra.includes("default_generated") && row.column_default !== "CURRENT_TIMESTAMP",
    isAutoIncrement: extra.includes("auto_increment") && type?.family === "integer",
    isUpdatedOnChange: extra.includes("on update current_timestamp"),
    comment: text(row.column_comment),
  };
}

/** Maps a SQLite type by SQLite's rules. The values in the column decide in the end. */
function typeDeclared(declared: string): ColumnType {
  if (/int/i.test(declared)) return typeNamed("bigint");
  if (/char|clob|text/i.test(declared)) return typeNamed("longtext");
  if (/blob/i.test(declared) || declared === "") return typeNamed("longblob");
  return /real|floa|doub/i.test(declared) ? typeNamed("double") : typeNamed("bigint");
}

function columnDeclared(name: string, row: Row, isAutoIncrement: boolean): Column {
  const facts = { default: null, isComputed: row.dflt_value !== null, isUpdatedOnChange: false, comment: "" };
  return {
    ...facts,
    name,
    type: typeDeclared(text(row.type)),
    collation: null,
    isNullable: row.notnull !== 1,
    isAutoIncrement,
  };
}

/** Converts a key. `nameOf` returns a column's name in the table's spelling. */
function keyFrom(name: string, rows: readonly Row[], nameOf: (column: string) => string): Key {
  const first = rows[0] ?? {};
  const kind = text(first.index_type);
  return {
    name,
    isUnique: Number(first.non_unique) === 0,
    kind: kind === "FULLTEXT" ? "fulltext" : kind === "SPATIAL" ? "other" : "plain",
    parts: rows
      .toSorted((one, other) => Number(one.seq_in_index) - Number(other.seq_in_index))
      .map((row) => ({ column: nameOf(text(row.column_name)), prefix: whole(row.sub_part) })),
  };
}

/** Returns the SQLite keys of a table that the driver does not know. */
function declaredKeys(database: DatabaseSync, table: Table): Key[] {
  const wholeParts = (columns: readonly string[]) => columns.map((column) => ({ column, prefix: null }));
  const primary = { name: "PRIMARY", isUnique: true, kind: "plain", parts: wholeParts(table.primaryKey) } as const;
  const columnsOf = database.prepare("SELECT name FROM pragma_index_info(?) ORDER BY seqno");
  const others = database
    .prepare(`SELECT name, "unique" AS isUnique, origin, partial FROM pragma_index_list(?) ORDER BY name`)
    .all(table.name)
    .filter(({ origin, partial }) => origin !== "pk" && partial === 0)
    .map(({ name, isUnique }): Key => {
      const columns = columnsOf.all(text(name)).map((column) => text(column.name));
      return { name: text(name), isUnique: isUnique === 1, kind: "plain", parts: wholeParts(columns) };
    })
    // Keys on expressions have columns without a name.
    .filter(({ parts }) => parts.every(({ column }) => column !== ""));
  return table.primaryKey.length > 0 ? [primary, ...others] : others;
}

function foreignKeysFrom(rows: readonly Row[], uses: readonly Row[]): ForeignKey[] {
  return rows.map((row) => {
    const name = text(row.constraint_name);
    const own = uses.filter((use) => use.constraint_name === name && use.referenced_column_name !== null);
    return {
      name,
      columns: own.map((use) => text(use.column_name)),
      table: text(row.referenced_table_name),
      references: own.map((use) => text(use.referenced_column_name)),
      onDelete: text(row.delete_rule),
      onUpdate: text(row.update_rule),
    };
  });
}

function countersOf(database: DatabaseSync): Map<string, bigint> {
  const sequenceTable = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").get();
  if (sequenceTable === undefined) return new Map();
  const read = database.prepare("SELECT name, seq FROM sqlite_sequence WHERE typeof(seq) = 'integer' AND seq >= 0");
  read.setReadBigInts(true);
  return new Map(read.all().map(({ name, seq }) => [nameKey(text(name)), typeof seq === "bigint" ? seq + 1n : 1n]));
}

/** Reads all tables by name, except SQLite's, the driver's and virtual ones. */
export function readSchema(database: DatabaseSync): TableSchema[] {
  const rows = readerOf(database);
  const tables = rows("tables", ["table_name", "table_collation", "table_comment"]);
  const columns = rows("columns", [
    ...["table_name", "column_name", "column_type", "column_default", "is_nullable", "extra"],
    ...["collation_name", "column_comment"],
  ]);
  const statistics = rows("statistics", [
    ...["table_name", "index_name", "seq_in_index", "column_name", "sub_part", "non_unique", "index_type"],
  ]);
  const foreign = rows("referential_constraints", [
    ...["table_name", "constraint_name", "referenced_table_name", "delete_rule", "update_rule"],
  ]);
  const uses = rows("key_column_usage", [
    ...["table_name", "constraint_name", "column_name", "referenced_column_name"],
  ]);
  const constraints = rows("table_constraints", ["table_name", "constraint_name", "constraint_type"]);
  const counters = countersOf(database);
  const declared = database.prepare('SELECT name, type, "notnull" AS "notnull", dflt_value FROM pragma_table_info(?)');

  return siteTables(database).map((table) => {
    const of = <T>(all: Map<string, T[]>) => all.get(nameKey(table.name)) ?? [];
    const [facts] = of(tables);
    const descriptions = new Map(of(columns).map((row) => [nameKey(text(row.column_name)), row]));
    const next = counters.get(nameKey(table.name)) ?? null;
    const own = declared.all(table.name).map((row): Column => {
      const described = descriptions.get(nameKey(text(row.name)));
      const isAutoIncrement = next !== null && table.primaryKey.length === 1 && table.primaryKey[0] === row.name;
      return described === undefined ? columnDeclared(text(row.name), row, isAutoIncrement) : columnFrom(described);
    });
    const names = new Map(own.map(({ name }) => [nameKey(name), name]));
    const nameOf = (column: string) => names.get(nameKey(column)) ?? column;
    const keys = Map.groupBy(of(statistics), (row) => text(row.index_name));
    return {
      name: table.name,
      isDescribed: facts !== undefined,
      columns: own,
      keys:
        facts === undefined
          ? declaredKeys(database, table)
          : [...keys].map(([name, parts]) => keyFrom(name, parts, nameOf)),
      foreignKeys: foreignKeysFrom(of(foreign), of(uses)),
      collation: facts === undefined ? "utf8mb4_bin" : portable(text(facts.table_collation)),
      comment: text(facts?.table_comment),
      next,
      checks: of(constraints)
        .filter((row) => row.constraint_type === "CHECK")
        .map((row) => text(row.constraint_name)),
    };
  });
}
