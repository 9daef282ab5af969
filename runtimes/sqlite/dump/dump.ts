/**
 * Dumps a SQLite database as SQL for MySQL (5.7, 8 and later) and MariaDB (10.3 and later). Each table is read twice:
 * to examine its values, then to write them. At most a megabyte of rows, or one larger value, is held in memory.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToEvents } from "node:timers/promises";
import { type AdaptedTable, adaptTable } from "./adaptTable.ts";
import { quotedName } from "./columnType.ts";
import { createTable } from "./createTable.ts";
import { collectFindings, readRows } from "./findings.ts";
import { literal } from "./literal.ts";
import { nameKey, readSchema, type TableSchema } from "./schema.ts";

export interface Dumped {
  readonly tables: number;
  /** Sentences about differences from the original database. */
  readonly notes: readonly string[];
}

const statementBytes = 1_000_000;
/** The default limit of servers for one statement (`max_allowed_packet`). */
const defaultPacketBytes = 16_000_000;
const maxNameLength = 64;

const header = `-- Database dump for MySQL or MariaDB, converted from SQLite by Sitewright.
-- Importing it replaces tables of the same names.

SET NAMES utf8mb4;
SET @old_sql_mode = @@sql_mode, sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
SET @old_time_zone = @@time_zone, time_zone = '+00:00';
SET @old_foreign_key_checks = @@foreign_key_checks, foreign_key_checks = 0;
SET @old_unique_checks = @@unique_checks, unique_checks = 0;
SET @old_autocommit = @@autocommit, autocommit = 0;
`;
const footer = `
COMMIT;
SET autocommit = @old_autocommit;
SET unique_checks = @old_unique_checks;
SET foreign_key_checks = @old_foreign_key_checks;
SET time_zone = @old_time_zone;
SET sql_mode = @old_sql_mode;
`;

/** Whether MySQL accepts the name: no characters of four bytes, no trailing space. */
function canBeName(name: string): boolean {
  return name !== "" && name.length <= maxNameLength && !/[\0\ud800-\udfff\ufffd]| $/.test(name);
}

function canBeTable({ name, columns, keys }: TableSchema): boolean {
  const named = [name, ...columns.map((column) => column.name), ...keys.map((key) => key.name)];
  return columns.length > 0 && named.every(canBeName);
}

/** Returns a check for foreign keys. MySQL refuses references between columns of different types. */
function isReferencePossible(table: AdaptedTable, all: ReadonlyMap<string, AdaptedTable>) {
  return ({ columns, table: other, references, onDelete, onUpdate, name }: AdaptedTable["foreignKeys"][number]) => {
    const target = all.get(nameKey(other));
    const typeOf = (of: AdaptedTable | undefined, column: string | undefined) =>
      of?.columns.find((each) => nameKey(each.name) === nameKey(column ?? ""));
    const setsNull = [onDelete, onUpdate].includes("SET NULL");
    return (
      canBeName(name) &&
      columns.length > 0 &&
      columns.every((column, at) => {
        const [from, to] = [typeOf(table, column), typeOf(target, references[at])];
        const isSame = from?.type.base === to?.type.base && from?.type.isUnsigned === to?.type.isUnsigned;
        return from?.type.family === "integer" && isSame && (from.isNullable || !setsNull);
      })
    );
  };
}

/** Opens a new file that only its owner can read, for writing. */
function openSink(file: string) {
  const handle = openSync(file, "wx", 0o600);
  const write = (piece: string | Buffer): void => {
    let rest = typeof piece === "string" ? Buffer.from(piece) : piece;
    while (rest.length > 0) rest = rest.subarray(writeSync(handle, rest));
  };
  return { write, close: () => closeSync(handle) };
}

type Sink = ReturnType<typeof openSink>;

/** Writes the rows. Returns the length of the longest statement. */
async function writeRows(
  database: DatabaseSync,
  schema: TableSchema,
  { name, columns }: AdaptedTable,
  sink: Sink,
): Promise<number> {
  const start = `INSERT INTO ${quotedName(name)} (${columns.map((column) => quotedName(column.name)).join(",")}) VALUES\n`;
  let pieces: (string | Buffer)[] = [];
  let bytes = 0;
  let longest = 0;
  const flush = async (): Promise<void> => {
    if (pieces.length === 0) return;
    sink.write(start);
    for (const piece of joined(pieces)) sink.write(piece);
    sink.write(";\n");
    longest = Math.max(longest, bytes);
    [pieces, bytes] = [[], 0];
    // Lets this process notice that the process that started it is gone.
    await yieldToEvents();
  };
  for (const row of readRows(database, schema)) {
    const values = columns.map(({ type }, at) => literal(row[at] ?? null, type));
    const size = values.reduce((sum, value) => sum + Buffer.byteLength(value) + 1, 4);
    if (bytes + size > statementBytes) await flush();
    pieces.push(
      pieces.length === 0 ? "(" : ",\n(",
      ...values.flatMap((value, at) => (at === 0 ? [value] : [",", value])),
      ")",
    );
    bytes += size;
  }
  await flush();
  return longest;
}

/** Joins adjacent strings. */
function* joined(pieces: readonly (string | Buffer)[]): Iterable<string | Buffer> {
  let text: string[] = [];
  for (const piece of pieces) {
    if (typeof piece === "string") {
      text.push(piece);
      continue;
    }
    yield text.join("");
    yield piece;
    text = [];
  }
  yield text.join("");
}

function viewNotes(database: DatabaseSync): string[] {
  const views = database.prepare(
    "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type IN ('view', 'virtual') ORDER BY name",
  );
  return views
    .all()
    .map(({ name, type }) => `\`${name}\` is left out: it is a SQLite ${type === "view" ? "view" : "virtual table"}.`);
}

/** Dumps a database. `source` must not be written to meanwhile; `target` is a new file. */
export async function dump(source: string, target: string): Promise<Dumped> {
  const database = new DatabaseSync(source, { readOnly: true });
  const sink = openSink(target);
  try {
    const all = readSchema(database);
    const schemas = all.filter(canBeTable);
    const adapted = new Map<string, AdaptedTable>();
    for (const schema of schemas) {
      adapted.set(nameKey(schema.name), adaptTable(schema, collectFindings(database, schema)));
      await yieldToEvents();
    }
    const notes = [
      ...all
        .filter((schema) => !canBeTable(schema))
        .map(
          ({ name }) => `\`${name}\` is left out: MySQL does not allow the name of the table, of a column or of a key.`,
        ),
      ...viewNotes(database),
    ];
    sink.write(header);
    for (const schema of schemas) {
      const table = adapted.get(nameKey(schema.name));
      if (table === undefined) continue;
      const foreignKeys = table.foreignKeys.filter(isReferencePossible(table, adapted));
      sink.write(`\nDROP TABLE IF EXISTS ${quotedName(table.name)};\n${createTable({ ...table, foreignKeys })}`);
      const longest = await writeRows(database, schema, table, sink);
      sink.write("COMMIT;\n");
      notes.push(...table.notes);
      const dropped = table.foreignKeys.length - foreignKeys.length;
      if (dropped > 0) notes.push(`Foreign keys of \`${table.name}\` that are left out: ${dropped}.`);
      if (longest > defaultPacketBytes)
        notes.push(
          `\`${table.name}\` has a row of ${Math.ceil(longest / 1e6)} MB: set the server's max_allowed_packet to more than that.`,
        );
    }
    sink.write(footer);
    return { tables: schemas.length, notes };
  } finally {
    sink.close();
    database.close();
  }
}
