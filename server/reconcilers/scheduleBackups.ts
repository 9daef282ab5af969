/**
 * Has every environment that is served backed up by itself. When each is due is a row, so that what fell into a time when
 * nothing ran is made up for once; a few at a time, the longest overdue first.
 */

import { listBackupsWithoutDueTime, setDueTimes } from "../store/backups/scheduledBackups.ts";
import type { Database } from "../store/database.ts";
import { hour, nextMoment } from "./backupMoments.ts";

/** What the start of one is told. */
export interface BackupTurn {
  readonly now: Date;
  /** How many may be made at the same time. */
  readonly atOnce: number;
  /** When the one after this is due. */
  readonly nextMoment: (environmentId: string) => Date;
  /** How long after a failure it is tried again, given how often it has failed; null: not before the next one is due. */
  readonly pauseAfter: (failures: number) => number | null;
}

export interface ScheduleBackupsOptions {
  readonly database: Database;
  /** Between two backups of an environment; 0: none are made. */
  readonly hours: number;
  /** Starts the one that is overdue longest. False if there is none, or as many as may be are being made. */
  readonly begin: (turn: BackupTurn) => Promise<boolean>;
  readonly now?: () => number;
}

/** Each reads a whole environment, and visitors need the disk too. */
const atOnce = 2;
const mostTries = 3;
const longestPause = hour;
const decidedTogether = 1_000;

export async function scheduleBackups(options: ScheduleBackupsOptions): Promise<void> {
  const { database, hours, begin, now: clock = Date.now } = options;
  if (hours === 0) return;
  const period = hours * hour;
  const now = new Date(clock());
  const moment = (id: string) => nextMoment(id, hours, now);
  await decide(database, new Date(now.getTime() + period), moment);
  const pause = Math.min(longestPause, period / 4);
  const pauseAfter = (failures: number) => (failures < mostTries ? pause : null);
  while (await begin({ now, atOnce, nextMoment: moment, pauseAfter }));
}

/**
 * For new environments; and where it is farther off than it can be, because the clock was put back since, or the period has
 * become shorter.
 */
async function decide(database: Database, farthest: Date, moment: (id: string) => Date): Promise<void> {
  for (;;) {
    const ids = await listBackupsWithoutDueTime(database, farthest, decidedTogether);
    if (ids.length === 0) return;
    await setDueTimes(
      database,
      ids.map((id) => ({ id, dueAt: moment(id) })),
    );
  }
}
