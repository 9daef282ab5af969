/** Removes pictures that were taken long ago. */
import { openPictureStore } from "../pictures/pictures.ts";

const days = 30;
const day = 86_400_000;

export function expirePictures(folder: string): Promise<void> {
  return openPictureStore(folder).expire(new Date(Date.now() - days * day));
}
