/** The backup of an installation: its database as it is at one moment, its keys and its settings, in one file. */
import type pg from "pg";
import { beginSnapshot, dumpRows, dumpSequences, inTransaction, listTables } from "../store/dump.ts";
import { listMigrations } from "../store/migrate.ts";
import { type EnvironmentBackup, listNewestBackups } from "../store/moved.ts";
import { type SealOptions, sealFile } from "./envelope.ts";
import { type Counts, countRows, type Entry, formatVersion, type Header, writeBackup } from "./format.ts";

/** What is kept besides the database. */
export type KeptBeside = Pick<Header, "files" | "settings" | "archives" | "archiveFolder">;

export interface MadeBackup {
  readonly bytes: number;
  readonly counts: Counts;
  readonly environments: readonly EnvironmentBackup[];
}

/** Rejects with `UnusableFile` if the file can't be written there. The database may be in use. */
export function backupInstallation(pool: pg.Pool, beside: KeptBeside, place: SealOptions): Promise<MadeBackup> {
  return inTransaction(pool, beginSnapshot, async (client) => {
    const environments = await listNewestBackups(client);
    const migrations = await listMigrations(client);
    const madeAt = new Date().toISOString();
    const header: Header = { sitewright: "installation", version: formatVersion, madeAt, migrations, ...beside };
    const count = countRows();
    const bytes = await sealFile(place, writeBackup(header, dump(client), count));
    return { bytes, counts: count.counts(), environments };
  });
}

async function* dump(client: pg.ClientBase): AsyncGenerator<Entry> {
  for (const table of await listTables(client)) {
    yield { kind: "table", table };
    for await (const line of dumpRows(client, table)) yield { kind: "row", line };
  }
  yield { kind: "sequences", sequences: await dumpSequences(client) };
}
