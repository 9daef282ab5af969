/**
 * Starts scheduled backups of every environment that is served, a few at a time, the most overdue first. Due times are
 * stored, so a backup that was missed during downtime is made afterwards, once.
 */

import { listBackupsWithoutDueTime, setDueTimes } from "../store/backups/scheduledBackups.ts";
import type { Database } from "../store/database.ts";
import { hour, nextBackupTime } from "./backupTimes.ts";

interface BackupTurn {
  readonly now: Date;
  /** Maximum number of backups at the same time. */
  readonly atOnce: number;
  /** When the environment's next backup is due. */
  readonly nextMoment: (environmentId: string) => Date;
  /** Milliseconds until a failed backup is retried, or null to wait for the next one. */
  readonly pauseAfter: (failures: number) => number | null;
}

interface ScheduleBackupsOptions {
  readonly database: Database;
  /** Interval between backups of an environment; 0 for no backups. */
  readonly hours: number;
  /** Starts the most overdue backup. Returns false if none is due or `atOnce` are running. */
  readonly begin: (turn: BackupTurn) => Promise<boolean>;
  readonly now?: () => number;
}

/** Each backup reads a whole environment, and visitors need the disk too. */
const atOnce = 2;
const maxAttempts = 3;
const maxRetryDelay = hour;
const batchSize = 1_000;

export async function scheduleBackups(options: ScheduleBackupsOptions): Promise<void> {
  const { database, hours, begin, now: clock = Date.now } = options;
  if (hours === 0) return;
  const period = hours * hour;
  const now = new Date(clock());
  const nextTime = (id: string) => nextBackupTime(id, hours, now);
  await setMissingDueTimes(database, new Date(now.getTime() + period), nextTime);
  const retryDelay = Math.min(maxRetryDelay, period / 4);
  const pauseAfter = (failures: number) => (failures < maxAttempts ? retryDelay : null);
  while (await begin({ now, atOnce, nextMoment: nextTime, pauseAfter }));
}

/**
 * Sets the due time of new environments, and of those whose due time is later than `latest` because the clock was set back
 * or the interval was shortened.
 */
async function setMissingDueTimes(database: Database, latest: Date, nextTime: (id: string) => Date): Promise<void> {
  for (;;) {
    const ids = await listBackupsWithoutDueTime(database, latest, batchSize);
    if (ids.length === 0) return;
    await setDueTimes(
      database,
      ids.map((id) => ({ id, dueAt: nextTime(id) })),
    );
  }
}
