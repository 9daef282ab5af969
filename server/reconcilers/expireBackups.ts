/**
 * Removes backups that are kept no longer, with what was deleted and can't be restored any more, and what no backup
 * needs from the archives: first condemned, so that no new backup relies on it, and removed a day later, when whoever still
 * read it has long ended.
 */
import type { Archives } from "../archives/archives.ts";
import { removeExpiredBackups } from "../store/backups/backups.ts";
import { forgetDeleted } from "../store/backups/deletedEnvironments.ts";
import { clampFutureTimes, condemnPacks, findCondemnedPacks, removePack } from "../store/backups/packs.ts";
import type { Database } from "../store/database.ts";

export interface ExpireBackupsOptions {
  readonly database: Database;
  readonly archives: Pick<Archives, "removePack">;
  readonly now?: () => number;
}

/** An object store takes its time for each; the process must be able to stop soon. */
const atOnce = 8;
const mostFailures = 20;
/** Longer than any operation lasts. */
const grace = 86_400_000;

export async function expireBackups({ database, archives, now = Date.now }: ExpireBackupsOptions): Promise<void> {
  const today = new Date(now());
  await removeExpiredBackups(database, today);
  await forgetDeleted(database, today);
  const longAgo = new Date(today.getTime() - grace);
  await clampFutureTimes(database, today);
  while ((await condemnPacks(database, longAgo, today)) > 0);
  const condemned = [...(await findCondemnedPacks(database, longAgo))];
  const failures: unknown[] = [];
  const remove = async () => {
    for (let pack = condemned.pop(); pack !== undefined; pack = condemned.pop()) {
      // The row goes last: where this breaks off in between, the next run finds it again.
      const removing = archives.removePack(pack).then(() => removePack(database, pack.id));
      await removing.catch((error: unknown) => failures.push(error));
      // One that can't be removed must not keep the others; a store that is away need not be asked for each.
      if (failures.length >= mostFailures) return;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, remove));
  if (failures.length > 0) throw failures[0];
}
