/**
 * After an installation was restored on another machine, rebuilds its environments from their backups, a few at a time. Only
 * environments that the restore has marked: a missing folder proves nothing, because a disk may not be mounted.
 */
import type { Database } from "../store/database.ts";
import { listAwaitingRebuild } from "../store/restoredInstallation.ts";

interface RebuildEnvironmentsOptions {
  readonly database: Database;
  /** When this process started. Rebuilds that failed before are retried at once. */
  readonly startedAt: Date;
  /** Starts the operation that restores an environment. */
  readonly rebuild: (environmentId: string) => Promise<void>;
  readonly now?: () => number;
}

/** Each rebuild reads from the archives and writes to the disk; visitors of finished environments come first. */
const atOnce = 2;
const retryHours = 1;
const hour = 3_600_000;

export async function rebuildEnvironments({
  database,
  startedAt,
  rebuild,
  now = Date.now,
}: RebuildEnvironmentsOptions): Promise<void> {
  const failedSince = new Date(Math.max(startedAt.getTime(), now() - retryHours * hour));
  for (const id of await listAwaitingRebuild(database, { failedSince, atOnce })) await rebuild(id);
}
