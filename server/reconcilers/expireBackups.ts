/**
 * Removes expired backups, deleted sites and environments that can no longer be restored, and packs that no backup
 * needs. A pack is first marked as unused, so that no new backup relies on it, and removed a day later, when every
 * operation that could still read it has ended.
 */
import type { Archives } from "../archives/archives.ts";
import { removeExpiredBackups } from "../store/backups/backups.ts";
import { forgetDeleted } from "../store/backups/deletedEnvironments.ts";
import { clampFutureTimes, findUnusedPacks, markUnusedPacks, removePack } from "../store/backups/packs.ts";
import type { Database } from "../store/database.ts";

interface ExpireBackupsOptions {
  readonly database: Database;
  readonly archives: Pick<Archives, "removePack">;
  readonly now?: () => number;
}

/** Packs removed in parallel: an object store is slow, and the process must be able to stop soon. */
const concurrency = 8;
const maxFailures = 20;
/** Longer than any operation lasts. */
const grace = 86_400_000;

export async function expireBackups({ database, archives, now = Date.now }: ExpireBackupsOptions): Promise<void> {
  const today = new Date(now());
  await removeExpiredBackups(database, today);
  await forgetDeleted(database, today);
  const graceStart = new Date(today.getTime() - grace);
  await clampFutureTimes(database, today);
  while ((await markUnusedPacks(database, graceStart, today)) > 0);
  const unused = [...(await findUnusedPacks(database, graceStart))];
  const failures: unknown[] = [];
  const remove = async () => {
    for (let pack = unused.pop(); pack !== undefined; pack = unused.pop()) {
      // The row is removed last, so that the next run finds the pack again if this one is interrupted.
      const removing = archives.removePack(pack).then(() => removePack(database, pack.id));
      await removing.catch((error: unknown) => failures.push(error));
      // One failure must not stop the others, but if the store is down, trying every pack is pointless.
      if (failures.length >= maxFailures) return;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, remove));
  if (failures.length > 0) throw failures[0];
}
