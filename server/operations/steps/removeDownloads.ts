/** Removes the downloadable backups of deleted environments, so that deleted content can't be downloaded. */
import { downloadableBackupsOf } from "../../store/backups/downloadableBackups.ts";
import type { Services } from "./services.ts";

/** Tolerates that there is nothing. One that is finished just then is found by `expireDownloads.ts`. */
export async function removeDownloads(
  { database, downloads }: Pick<Services, "database" | "downloads">,
  environmentIds: readonly string[],
): Promise<void> {
  for (const id of await downloadableBackupsOf(database, environmentIds)) await downloads.remove(id);
}
