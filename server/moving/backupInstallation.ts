/** Backs up an installation: a snapshot of its database, its keys and its settings, in one file. */
import type pg from "pg";
import { beginSnapshot, dumpRows, dumpSequences, inTransaction, listTables } from "../store/dump.ts";
import { listMigrations } from "../store/migrate.ts";
import { type EnvironmentBackup, listNewestBackups } from "../store/restoredInstallation.ts";
import { type SealOptions, sealFile } from "./envelope.ts";
import { type Counts, countRows, type Entry, formatVersion, type Header, writeBackup } from "./format.ts";

/** Everything in the backup except the database. */
export type HeaderFields = Pick<Header, "files" | "settings" | "archives" | "archiveFolder">;

export interface BackupResult {
  readonly bytes: number;
  readonly counts: Counts;
  readonly environments: readonly EnvironmentBackup[];
}

/** Rejects with `UnusableFile` if the file can't be written. The database can be in use. */
export function backupInstallation(pool: pg.Pool, fields: HeaderFields, target: SealOptions): Promise<BackupResult> {
  return inTransaction(pool, beginSnapshot, async (client) => {
    const environments = await listNewestBackups(client);
    const migrations = await listMigrations(client);
    const madeAt = new Date().toISOString();
    const header: Header = { sitewright: "installation", version: formatVersion, madeAt, migrations, ...fields };
    const count = countRows();
    const bytes = await sealFile(target, writeBackup(header, dump(client), count));
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
