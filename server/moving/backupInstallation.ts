/** Backs up an installation: a snapshot of its database, its keys and its settings, in one file. */
import type pg from "pg";
import { beginSnapshot, dumpRows, dumpSequences, inTransaction, listTables } from "../store/dump.ts";
import { lockFiles, unlockFiles } from "../store/fileLocks.ts";
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

/**
 * Rejects with `UnusableFile` if the file can't be written. The database can be in use. `readFields` is called while no other
 * process changes the files that it reads, so that they belong to the snapshot: an older key could not open it, and older
 * hashes of the activity log would not match.
 */
export function backupInstallation(
  pool: pg.Pool,
  readFields: () => Promise<HeaderFields>,
  target: SealOptions,
): Promise<BackupResult> {
  return inTransaction(pool, beginLocked, async (client) => {
    const fields = await readFields();
    // The first query takes the snapshot.
    const environments = await listNewestBackups(client);
    await unlockFiles(client);
    const migrations = await listMigrations(client);
    const madeAt = new Date().toISOString();
    const header: Header = { sitewright: "installation", version: formatVersion, madeAt, migrations, ...fields };
    const count = countRows();
    const bytes = await sealFile(target, writeBackup(header, dump(client), count));
    return { bytes, counts: count.counts(), environments };
  });
}

async function beginLocked(client: pg.ClientBase): Promise<void> {
  await lockFiles(client);
  await beginSnapshot(client);
}

async function* dump(client: pg.ClientBase): AsyncGenerator<Entry> {
  for (const table of await listTables(client)) {
    yield { kind: "table", table };
    for await (const line of dumpRows(client, table)) yield { kind: "row", line };
  }
  yield { kind: "sequences", sequences: await dumpSequences(client) };
}
