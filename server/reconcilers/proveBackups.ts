/**
 * Has one backup after the other restored beside its site, to know that it can be: so many a day, evenly spread, and of
 * each environment in turn. docs/decisions/backups.md says more.
 */

import { type BackupToTest, findBackupToTest, isTestRestoreDue } from "../store/backups/testRestores.ts";
import type { Database } from "../store/database.ts";

export interface ProveBackupsOptions {
  readonly database: Database;
  readonly perDay: number;
  /** Starts the operation that proves it. */
  readonly prove: (backup: BackupToTest) => Promise<void>;
}

export async function proveBackups({ database, perDay, prove }: ProveBackupsOptions): Promise<void> {
  if (!(await isTestRestoreDue(database, perDay))) return;
  const backup = await findBackupToTest(database);
  if (backup !== null) await prove(backup);
}
