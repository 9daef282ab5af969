/** Whether a path leads to WordPress's REST API at its usual address. */
export function isRestPath(segments: readonly string[]): boolean {
  // In a subdirectory network, the site's folder comes first.
  return segments.slice(0, 2).includes("wp-json");
}
