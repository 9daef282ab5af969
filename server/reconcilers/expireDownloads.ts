/** Removes expired downloadable backups, and zips of removed environments. */
import type { Downloads } from "../archives/downloads.ts";
import { knownDownloadableBackups, removeExpiredDownloadableBackups } from "../store/backups/downloadableBackups.ts";
import type { Database } from "../store/database.ts";

interface ExpireDownloadsOptions {
  readonly database: Database;
  readonly downloads: Pick<Downloads, "list" | "remove">;
  readonly now?: () => number;
}

export async function expireDownloads({ database, downloads, now = Date.now }: ExpireDownloadsOptions): Promise<void> {
  await removeExpiredDownloadableBackups(database, new Date(now()));
  // Rows are inserted before their zips are written, so a zip that was listed before the query and has no row is an orphan.
  const listed = await downloads.list();
  const known = await knownDownloadableBackups(database, listed);
  for (const id of listed) if (!known.has(id)) await downloads.remove(id);
}
