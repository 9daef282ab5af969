/**
 * Restores the database of a backup into an empty one: the old schema, the rows, and then the migrations since, all in one
 * transaction. If it fails, the database stays empty.
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
import { adaptRestoredDatabase, type Restore } from "../store/restoredInstallation.ts";
import type { Sealed } from "./envelope.ts";
import { UnusableFile } from "./envelope.ts";
import { type Entry, type Header, readEntries } from "./format.ts";

const maxRowsPerBatch = 500;
const maxCharactersPerBatch = 4_000_000;

/** Rejects with `UnusableFile` if the backup was made by a newer version of Sitewright. */
export async function migrationsFor(header: Pick<Header, "migrations">) {
  const known = await readMigrations();
  const unknown = header.migrations.find((name) => !known.some((migration) => migration.name === name));
  if (unknown !== undefined) {
    throw new UnusableFile(
      `The backup was made by a newer version of Sitewright: the migration ${unknown} is unknown. ` +
        "Nothing was changed. Update Sitewright, then try again.",
    );
  }
  const isOld = ({ name }: { readonly name: string }) => header.migrations.includes(name);
  return { old: known.filter(isOld), since: known.filter((migration) => !isOld(migration)) };
}

/** Names of the tables in the database; none if it is empty. */
export async function tablesIn(pool: pg.Pool): Promise<string[]> {
  const client = await pool.connect();
  try {
    return (await listTables(client)).map(({ name }) => name);
  } finally {
    client.release();
  }
}

/**
 * Restores the database. Awaits `finish` just before the commit; if that rejects, everything is rolled back. Returns the
 * names of tables in the backup that don't belong to Sitewright and were left out.
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
    const leftOut = await loadAll(client, readEntries(sealed));
    await resume();
    await migrateWithin(client, since);
    await adaptRestoredDatabase(client, restore);
    await finish();
    return leftOut;
  });
}

async function loadAll(client: pg.ClientBase, entries: AsyncIterable<Entry>): Promise<string[]> {
  const leftOut: string[] = [];
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
    if (load === null) leftOut.push(table.name);
  };
  for await (const entry of entries) {
    if (entry.kind === "table") await begin(entry.table);
    else if (entry.kind === "sequences") await loadSequences(client, entry.sequences);
    else {
      lines.push(entry.line);
      characters += entry.line.length;
      if (lines.length >= maxRowsPerBatch || characters >= maxCharactersPerBatch) await flush();
    }
  }
  await flush();
  return leftOut;
}
