/**
 * The database of a backup, into one that is empty: the schema as it was, the rows, and then what this version of
 * Sitewright changes about both, all in one transaction. Whatever breaks it off, the database is empty as before.
 */
import type pg from "pg";
import {
  beginLoad,
  type DumpedTable,
  inTransaction,
  listTables,
  loadSequences,
  prepareLoad,
  suspendForeignKeys,
} from "../store/dump.ts";
import { migrateWithin, readMigrations } from "../store/migrate.ts";
import { type Restore, settleRestored } from "../store/moved.ts";
import type { Sealed } from "./envelope.ts";
import { UnusableFile } from "./envelope.ts";
import { type Entry, type Header, readEntries } from "./format.ts";

const rowsTogether = 500;
const charactersTogether = 4_000_000;

/** Rejects with `UnusableFile` if the backup is of a version of Sitewright that is newer than this one. */
export async function migrationsFor(header: Pick<Header, "migrations">) {
  const known = await readMigrations();
  const unknown = header.migrations.find((name) => !known.some((migration) => migration.name === name));
  if (unknown !== undefined) {
    throw new UnusableFile(
      `The backup was made by a newer version of Sitewright: this one does not know ${unknown}. ` +
        "Nothing was changed: update this one first, then repeat.",
    );
  }
  const isOld = ({ name }: { readonly name: string }) => header.migrations.includes(name);
  return { old: known.filter(isOld), since: known.filter((migration) => !isOld(migration)) };
}

/** Names of tables that are in the database; where there are some it is not empty. */
export async function tablesIn(pool: pg.Pool): Promise<string[]> {
  const client = await pool.connect();
  try {
    return (await listTables(client)).map(({ name }) => name);
  } finally {
    client.release();
  }
}

/**
 * `finish` is awaited just before the commit: what it rejects with undoes everything. Gives names of tables of the backup
 * that are none of Sitewright's and were left out.
 */
export async function restoreDatabase(
  pool: pg.Pool,
  sealed: Sealed,
  header: Header,
  { restore, finish }: { readonly restore: Restore; readonly finish: () => Promise<void> },
): Promise<string[]> {
  const { old, since } = await migrationsFor(header);
  return inTransaction(pool, beginLoad, async (client) => {
    await migrateWithin(client, old);
    const resume = await suspendForeignKeys(client);
    const strangers = await loadAll(client, readEntries(sealed));
    await resume();
    await migrateWithin(client, since);
    await settleRestored(client, restore);
    await finish();
    return strangers;
  });
}

async function loadAll(client: pg.ClientBase, entries: AsyncIterable<Entry>): Promise<string[]> {
  const strangers: string[] = [];
  let load: Awaited<ReturnType<typeof prepareLoad>> = null;
  let lines: string[] = [];
  let characters = 0;
  const flush = async () => {
    if (lines.length > 0) await load?.(lines);
    lines = [];
    characters = 0;
  };
  const begin = async (table: DumpedTable) => {
    await flush();
    load = await prepareLoad(client, table);
    if (load === null) strangers.push(table.name);
  };
  for await (const entry of entries) {
    if (entry.kind === "table") await begin(entry.table);
    else if (entry.kind === "sequences") await loadSequences(client, entry.sequences);
    else {
      lines.push(entry.line);
      characters += entry.line.length;
      if (lines.length >= rowsTogether || characters >= charactersTogether) await flush();
    }
  }
  await flush();
  return strangers;
}
