/** Removes pictures that were taken long ago, and what is left of those that were never finished. */
import { removeLeftPictures } from "../pictures/chromium.ts";
import { openPictureStore } from "../pictures/pictures.ts";

const days = 30;
const day = 86_400_000;
/** None takes that long. */
const longest = 10 * 60_000;

export async function expirePictures(folder: string): Promise<void> {
  await openPictureStore(folder).expire(new Date(Date.now() - days * day));
  await removeLeftPictures(new Date(Date.now() - longest));
}
