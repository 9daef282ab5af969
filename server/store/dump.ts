/**
 * Copies all rows of all tables from one database to another as text.
 *
 * Values have PostgreSQL's own text format for their type, so nothing is lost. Tables and columns are read from the
 * database's catalogue, so new tables are included without changes here.
 */
import pg from "pg";

export interface DumpedTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** The last value of each used sequence, as text. */
export type Sequences = Readonly<Record<string, string>>;

const { escapeIdentifier } = pg;
const excludedTables = [
  // The list of migrations is stored separately.
  "schema_migrations",
  // Restoring old mail would send it again.
  "mails",
  "account_mails",
  // Triggers make new marks of changes.
  "list_changes",
  // Triggers make events of the rows that are loaded.
  ...["events", "event_numbers"],
  // Triggers count the entries of the activity log again when they are loaded.
  ...["activity_changes", "activity_counts", "activity_combinations"],
];
const batchSize = 500;

/** Makes the text of a value independent of the server's settings. */
const plainText = [
  "set local datestyle = 'ISO'",
  "set local timezone = 'UTC'",
  "set local intervalstyle = 'postgres'",
  "set local bytea_output = 'hex'",
  "set local extra_float_digits = 1",
].join(";");

/** Begins a transaction that reads a snapshot. The caller ends it. */
export async function beginSnapshot(client: pg.ClientBase): Promise<void> {
  await client.query("begin isolation level repeatable read read only");
  await client.query(plainText);
}

/** Begins a transaction that loads the rows of a snapshot. The caller ends it. */
export async function beginLoad(client: pg.ClientBase): Promise<void> {
  await client.query("begin");
  await client.query(plainText);
}

/** Runs `work` in the transaction that `begin` begins, on its own connection. Rolls back on errors. */
export async function inTransaction<T>(
  pool: pg.Pool,
  begin: (client: pg.ClientBase) => Promise<void>,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await begin(client);
    const result = await work(client);
    await client.query("commit");
    client.release();
    return result;
  } catch (error) {
    // Closing the connection rolls back.
    client.release(true);
    throw error;
  }
}

/** Lists tables by name, without those of extensions, and without generated columns. */
export async function listTables(client: pg.ClientBase): Promise<DumpedTable[]> {
  const { rows } = await client.query<DumpedTable>(
    `select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> all($1)
       and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
     group by c.relname order by c.relname`,
    [excludedTables],
  );
  return rows;
}

/** Yields each row as a JSON array of strings and nulls, in the order of the columns. */
export async function* dumpRows(client: pg.ClientBase, { name, columns }: DumpedTable): AsyncGenerator<string> {
  const values = columns.map((column) => `${escapeIdentifier(column)}::text`).join(", ");
  await client.query(
    `declare dump no scroll cursor for select json_build_array(${values})::text as line from ${escapeIdentifier(name)}`,
  );
  for (;;) {
    const { rows } = await client.query<{ line: string }>(`fetch ${batchSize} from dump`);
    for (const { line } of rows) yield line;
    if (rows.length < batchSize) break;
  }
  await client.query("close dump");
}

/** Call after reading the rows: sequences are not part of the snapshot and must not be behind the rows. */
export async function dumpSequences(client: pg.ClientBase): Promise<Sequences> {
  const { rows } = await client.query<{ name: string; last: string }>(
    `select sequencename::text as name, last_value::text as last from pg_sequences
     where schemaname = current_schema() and last_value is not null order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, last }) => [name, last]));
}

interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/**
 * Drops all foreign keys, so that tables can be filled in any order, and returns a function that adds them again and
 * checks all rows. Needs only ownership of the tables.
 */
export async function suspendForeignKeys(client: pg.ClientBase): Promise<() => Promise<void>> {
  const { rows } = await client.query<ForeignKey>(
    `select c.relname::text as table, k.conname::text as name, pg_get_constraintdef(k.oid) as definition
     from pg_constraint k join pg_class c on c.oid = k.conrelid
     where k.contype = 'f' and c.relnamespace = current_schema()::regnamespace order by 1, 2`,
  );
  const alter = ({ table }: ForeignKey) => `alter table ${escapeIdentifier(table)}`;
  for (const key of rows) await client.query(`${alter(key)} drop constraint ${escapeIdentifier(key.name)}`);
  return async () => {
    for (const key of rows) {
      await client.query(`${alter(key)} add constraint ${escapeIdentifier(key.name)} ${key.definition}`);
    }
  };
}

/** Returns a function that inserts rows from `dumpRows`, or null if there is no such table. */
export async function prepareLoad(
  client: pg.ClientBase,
  { name, columns }: DumpedTable,
): Promise<((lines: readonly string[]) => Promise<void>) | null> {
  const types = await readTypes(client, name);
  if (types.size === 0) return null;
  const values = columns.map((column, at) => {
    const type = types.get(column);
    if (type === undefined) throw new Error(`The table ${name} has no column ${column}`);
    return `(line ->> ${at})::${type}`;
  });
  const statement = `insert into ${escapeIdentifier(name)} (${columns.map((column) => escapeIdentifier(column)).join(", ")})
    overriding system value select ${values.join(", ")} from json_array_elements($1::json) as line`;
  return async (lines) => {
    await client.query(statement, [`[${lines.join(",")}]`]);
  };
}

async function readTypes(client: pg.ClientBase, table: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `select a.attname::text as name, format_type(a.atttypid, a.atttypmod) as type
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = current_schema()::regnamespace and c.relname = $1 and c.relkind = 'r'
       and a.attnum > 0 and not a.attisdropped`,
    [table],
  );
  return new Map(rows.map(({ name, type }) => [name, type]));
}

/** Skips sequences that don't exist. */
export async function loadSequences(client: pg.ClientBase, sequences: Sequences): Promise<void> {
  for (const [name, last] of Object.entries(sequences)) {
    await client.query(
      `select setval(oid::regclass, $2::bigint) from pg_class
       where relname = $1 and relkind = 'S' and relnamespace = current_schema()::regnamespace`,
      [name, last],
    );
  }
}
