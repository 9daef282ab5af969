/** Whether an environment has WordPress, whose pages can be cached and shared. */
import type { EdgeEnvironment } from "./table.ts";

export function hasWordPress({ wordpressVersion, overlays }: EdgeEnvironment): boolean {
  // Older table files lack the version; their environments have WordPress's code in overlays.
  return wordpressVersion === undefined ? "wp-includes" in overlays : wordpressVersion !== null;
}
