/**
 * Has the environments of an installation that was restored on another machine made anew, a few at a time. Only those that
 * the restore has marked: a folder that is not there says nothing, because a disk may not be mounted.
 */
import type { Database } from "../store/database.ts";
import { listAwaitingRebuild } from "../store/restoredInstallation.ts";

export interface RebuildEnvironmentsOptions {
  readonly database: Database;
  /** When this process began: what failed before is tried again. */
  readonly startedAt: Date;
  /** Starts the operation that restores one. */
  readonly rebuild: (environmentId: string) => Promise<void>;
  readonly now?: () => number;
}

/** Each fetches from the archives and writes to the disk; visitors of those that are there come first. */
const atOnce = 2;
const hoursUntilTriedAgain = 1;
const hour = 3_600_000;

export async function rebuildEnvironments({
  database,
  startedAt,
  rebuild,
  now = Date.now,
}: RebuildEnvironmentsOptions): Promise<void> {
  const failedSince = new Date(Math.max(startedAt.getTime(), now() - hoursUntilTriedAgain * hour));
  for (const id of await listAwaitingRebuild(database, { failedSince, atOnce })) await rebuild(id);
}
