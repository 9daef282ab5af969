/** Removes the downloadable backups of deleted environments, so that deleted content can't be downloaded. */
import { downloadableBackupsOf } from "../../store/backups/downloadableBackups.ts";
import type { Services } from "./services.ts";

/** Does nothing if there are none. Downloads that are finished at the same time are removed by `expireDownloads.ts`. */
export async function removeDownloads(
  { database, downloads }: Pick<Services, "database" | "downloads">,
  environmentIds: readonly string[],
): Promise<void> {
  for (const id of await downloadableBackupsOf(database, environmentIds)) await downloads.remove(id);
}
