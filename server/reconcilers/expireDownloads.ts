/** Removes expired downloadable backups, and zips of environments that are gone. */
import type { Downloads } from "../archives/downloads.ts";
import { knownDownloadableBackups, removeExpiredDownloadableBackups } from "../store/backups/downloadableBackups.ts";
import type { Database } from "../store/database.ts";

export interface ExpireDownloadsOptions {
  readonly database: Database;
  readonly downloads: Pick<Downloads, "list" | "remove">;
  readonly now?: () => number;
}

export async function expireDownloads({ database, downloads, now = Date.now }: ExpireDownloadsOptions): Promise<void> {
  await removeExpiredDownloadableBackups(database, new Date(now()));
  // A row is there before its zip: what is listed first and has none then never gets one.
  const there = await downloads.list();
  const known = await knownDownloadableBackups(database, there);
  for (const id of there) if (!known.has(id)) await downloads.remove(id);
}
