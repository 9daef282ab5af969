/**
 * Brings a database to the newest schema: numbered SQL files, each in a transaction of its own, each once.
 * Any number of processes may do so at once; one works and the others wait for it.
 */
import { readdir, readFile } from "node:fs/promises";
import type pg from "pg";

export interface Migration {
  /** File name without `.sql`: `0001-first`. Recorded in `schema_migrations`. */
  readonly name: string;
  readonly sql: string;
}

/** Any number, as long as nothing else in this database locks it. */
const migrationLock = 5_170_419_001;
const folder = new URL("./migrations/", import.meta.url);
const fileName = /^\d{4}-[a-z0-9-]+\.sql$/;

/** The migrations that belong to this version, in the order of their numbers. */
export async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  const misnamed = files.find((file) => !fileName.test(file));
  if (misnamed) throw new Error(`A migration is named like 0001-first.sql, not ${misnamed}`);
  return Promise.all(
    files.map(async (file) => ({
      name: file.slice(0, -".sql".length),
      sql: await readFile(new URL(file, folder), "utf8"),
    })),
  );
}

/**
 * Runs what has not been run yet and returns its names. Rejects, with nothing of the failing file done, when one
 * fails, and when the database has a migration that this version does not know (it was upgraded by a newer one).
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
    // Ending the connection rolls back what is open and gives up the lock, whatever state it is in.
    client.release(true);
    throw error;
  }
}

async function runMissing(client: pg.PoolClient, wanted: readonly Migration[]): Promise<string[]> {
  await ensureRecord(client);
  const done = new Set(await listMigrations(client));
  const unknown = [...done].find((name) => !wanted.some((migration) => migration.name === name));
  if (unknown) throw new Error(`The database was migrated by a newer version: this one does not know ${unknown}`);
  const missing = wanted.filter((migration) => !done.has(migration.name));
  for (const migration of missing) await runOne(client, migration);
  return missing.map((migration) => migration.name);
}

async function runOne(client: pg.PoolClient, migration: Migration): Promise<void> {
  try {
    await client.query("begin");
    await runWithin(client, migration);
    await client.query("commit");
  } catch (cause) {
    throw new Error(`Migration ${migration.name} failed`, { cause });
  }
}

/** Runs these in the caller's transaction: together with what else it does, or not at all. */
export async function migrateWithin(client: pg.ClientBase, migrations: readonly Migration[]): Promise<void> {
  await ensureRecord(client);
  for (const migration of migrations) await runWithin(client, migration);
}

/** Names of those that the database has had, in order. */
export async function listMigrations(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>("select name from schema_migrations order by name");
  return rows.map((row) => row.name);
}

async function ensureRecord(client: pg.ClientBase): Promise<void> {
  await client.query(
    "create table if not exists schema_migrations (name text primary key, ran_at timestamptz not null default now())",
  );
}

async function runWithin(client: pg.ClientBase, { name, sql }: Migration): Promise<void> {
  await client.query(sql);
  await client.query("insert into schema_migrations (name) values ($1)", [name]);
}
