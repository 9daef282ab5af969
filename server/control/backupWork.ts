/** Backups and archives. */
import { makeScheduledBackup } from "../app/backups/scheduledBackups.ts";
import { makeTestRestore } from "../app/backups/scheduledTestRestores.ts";
import { expireBackups } from "../reconcilers/expireBackups.ts";
import { expireDownloads } from "../reconcilers/expireDownloads.ts";
import { readArchives } from "../reconcilers/readArchives.ts";
import type { Reconciler } from "../reconcilers/schedule.ts";
import { scheduleBackups } from "../reconcilers/scheduleBackups.ts";
import { startTestRestores } from "../reconcilers/testRestores.ts";
import { raiseVerified } from "../store/backups/damage.ts";
import type { PeriodicWorkOptions } from "./periodicWorkOptions.ts";
import { hour, minute } from "./periods.ts";

/** Packs are verified after this fraction of the maximum age, so that backups rarely have to wait for it. */
const verifyAhead = 0.75;

export function workOnBackups(options: PeriodicWorkOptions): Reconciler[] {
  const { database, archives, downloads, acceptOperation, config } = options;
  const starting = { database, settings: config, acceptOperation };
  const backups = { database, hours: config.backupHours, begin: makeScheduledBackup(starting) };
  const testRestores = { database, perDay: config.testRestoresPerDay, start: makeTestRestore(starting) };
  const reading = { database, archives, days: verifyAhead * config.archiveReadDays, signal: options.signal };
  // Checks the store at startup, before a backup fails.
  const verify = () => options.checkArchive(options.signal).then(() => readArchives(reading));
  return [
    {
      name: "scheduleBackups",
      work: "Starting scheduled backups",
      everySeconds: 5,
      retrySeconds: 30,
      run: () => scheduleBackups(backups),
    },
    {
      name: "startTestRestores",
      work: "Starting test restores",
      everySeconds: 30,
      retrySeconds: minute,
      run: () => startTestRestores(testRestores),
    },
    { name: "readArchives", work: "Checking the archives", everySeconds: 10, retrySeconds: minute, run: verify },
    {
      name: "raiseVerified",
      work: "Recording checks of the archives",
      everySeconds: hour,
      retrySeconds: minute,
      run: () => raiseVerified(database),
    },
    {
      name: "expireBackups",
      work: "Removing expired backups",
      everySeconds: 10 * minute,
      retrySeconds: minute,
      run: () => expireBackups({ database, archives }),
    },
    {
      name: "expireDownloads",
      work: "Removing expired downloads",
      everySeconds: 5 * minute,
      retrySeconds: minute,
      run: () => expireDownloads({ database, downloads }),
    },
  ];
}
