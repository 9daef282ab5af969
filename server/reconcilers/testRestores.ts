/**
 * Starts test restores: checks that backups can be restored, beside their sites. `perDay` of them are spread evenly over the
 * day, and environments take turns. See docs/decisions/backups.md.
 */

import { type BackupToTest, findBackupToTest, isTestRestoreDue } from "../store/backups/testRestores.ts";
import type { Database } from "../store/database.ts";

interface TestRestoresOptions {
  readonly database: Database;
  readonly perDay: number;
  /** Starts the operation that restores the backup. */
  readonly start: (backup: BackupToTest) => Promise<void>;
}

export async function startTestRestores({ database, perDay, start }: TestRestoresOptions): Promise<void> {
  if (!(await isTestRestoreDue(database, perDay))) return;
  const backup = await findBackupToTest(database);
  if (backup !== null) await start(backup);
}
