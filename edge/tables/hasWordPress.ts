/** Whether an environment has WordPress, whose pages can be cached and shared. */
import type { EdgeEnvironment } from "./table.ts";

export function hasWordPress({ wordpressVersion, overlays }: EdgeEnvironment): boolean {
  // Older table files lack the version. In them, only environments with WordPress have overlays, with its shared code.
  return wordpressVersion === undefined ? Object.keys(overlays).length > 0 : wordpressVersion !== null;
}
