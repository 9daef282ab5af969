/** Removes old screenshots, and temporary files of screenshots that were never finished. */
import { removeLeftPictures } from "../pictures/chromium.ts";
import { openPictureStore } from "../pictures/pictures.ts";

const retentionDays = 30;
const day = 86_400_000;
/** Longer than taking a screenshot can take. */
const abandonedAfter = 10 * 60_000;

export async function expireScreenshots(folder: string): Promise<void> {
  await openPictureStore(folder).expire(new Date(Date.now() - retentionDays * day));
  await removeLeftPictures(new Date(Date.now() - abandonedAfter));
}
