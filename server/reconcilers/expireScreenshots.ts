/** Removes old screenshots, and temporary files of screenshots that were never finished. */
import { removeLeftoverScreenshots } from "../screenshots/browserPlace.ts";
import { openScreenshotStore } from "../screenshots/screenshots.ts";

const retentionDays = 30;
const day = 86_400_000;
/** Longer than taking a screenshot can take. */
const abandonedAfter = 10 * 60_000;

export async function expireScreenshots(folder: string): Promise<void> {
  await openScreenshotStore(folder).expire(new Date(Date.now() - retentionDays * day));
  await removeLeftoverScreenshots(new Date(Date.now() - abandonedAfter));
}
