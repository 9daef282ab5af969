/**
 * Migrates a database to the newest schema by numbered SQL files, each run once and in its own transaction.
 * Any number of processes may migrate at once; one works and the others wait.
 */
import { readdir, readFile } from "node:fs/promises";
import type pg from "pg";

interface Migration {
  /** File name without `.sql`: `0001-first`. Recorded in `schema_migrations`. */
  readonly name: string;
  readonly sql: string;
}

/** An arbitrary number that no other advisory lock in this database uses. */
const migrationLock = 5_170_419_001;
const folder = new URL("./migrations/", import.meta.url);
const fileName = /^\d{4}-[a-z0-9-]+\.sql$/;

/** Reads the migrations of this version, in order. */
export async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  const misnamed = files.find((file) => !fileName.test(file));
  if (misnamed) throw new Error(`${misnamed} is not a valid migration name. Use a name such as 0001-first.sql.`);
  return Promise.all(
    files.map(async (file) => ({
      name: file.slice(0, -".sql".length),
      sql: await readFile(new URL(file, folder), "utf8"),
    })),
  );
}

/**
 * Runs the missing migrations and returns their names. Rejects if one fails, without any of its changes, and if the
 * database has a migration that this version does not know (a newer version upgraded it).
 */
export async function migrate(pool: pg.Pool, migrations?: readonly Migration[]): Promise<string[]> {
  const wanted = migrations ?? (await readMigrations());
  const client = await pool.connect();
  try {
    await client.query("select pg_advisory_lock($1)", [migrationLock]);
    const ran = await runMissing(client, wanted);
    await client.query("select pg_advisory_unlock($1)", [migrationLock]);
    client.release();
    return ran;
  } catch (error) {
    // Closing the connection rolls back and releases the lock in any state.
    client.release(true);
    throw error;
  }
}

async function runMissing(client: pg.PoolClient, wanted: readonly Migration[]): Promise<string[]> {
  await ensureMigrationsTable(client);
  const done = new Set(await listMigrations(client));
  const unknown = [...done].find((name) => !wanted.some((migration) => migration.name === name));
  if (unknown) throw new Error(`The database was migrated by a newer version: this version does not know ${unknown}`);
  const missing = wanted.filter((migration) => !done.has(migration.name));
  for (const migration of missing) await runOne(client, migration);
  return missing.map((migration) => migration.name);
}

async function runOne(client: pg.PoolClient, migration: Migration): Promise<void> {
  try {
    await client.query("begin");
    await runInTransaction(client, migration);
    await client.query("commit");
  } catch (cause) {
    throw new Error(`Migration ${migration.name} failed`, { cause });
  }
}

/** Runs migrations in the caller's transaction. */
export async function migrateWithin(client: pg.ClientBase, migrations: readonly Migration[]): Promise<void> {
  await ensureMigrationsTable(client);
  for (const migration of migrations) await runInTransaction(client, migration);
}

/** Lists the names of the migrations that the database has, in order. */
export async function listMigrations(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>("select name from schema_migrations order by name");
  return rows.map((row) => row.name);
}

async function ensureMigrationsTable(client: pg.ClientBase): Promise<void> {
  await client.query(
    "create table if not exists schema_migrations (name text primary key, ran_at timestamptz not null default now())",
  );
}

async function runInTransaction(client: pg.ClientBase, { name, sql }: Migration): Promise<void> {
  await client.query(sql);
  await client.query("insert into schema_migrations (name) values ($1)", [name]);
}
