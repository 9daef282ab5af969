/**
 * Names that are never shown and never run, whether or not there is such a file. They are asked for the
 * address and again for the real path behind it, so that a symbolic link can't rename anything into view.
 *
 * The patterns want a dot in the name: `/wp-config-explained/` is an article.
 */

/** Source code under any name that isn't exactly `….php`, the one that is run. */
const sourceCode = /\.(?:php\d*|phps|pht|phtml|phar)(?:[^a-z0-9].*)?$|\.inc[. ]*$/i;
/** How WordPress itself renames an upload called `x.php.jpg`. */
const disarmedUpload = /\.php\d?_\.[a-z0-9]+$/i;
const configuration = /^wp-config.*[.~]|^(?:php|\.user)\.ini$/i;
const leftovers =
  /(?:~|\.(?:bak|backup|old|orig|save|sw[a-p]|log|sql|dump|(?:sqlite|db)\d?(?:-\w+)?)(?:\.(?:gz|tgz|bz2|xz|zst|zip|7z|tar))?)$/i;
const errorLogs = /^(?:php_)?error_?log$/i;
const emacsBackup = /^#.*#$/;

/** Whether a path must be answered as if nothing were there. */
export function isForbidden(segments: readonly string[]): boolean {
  return segments.some((segment, index) => isHidden(segment, index) || isSecret(segment));
}

/** Whether PHP may run this script: uploads hold what visitors sent, and are only ever sent back. */
export function isRunnable(segments: readonly string[]): boolean {
  const [first = "", second = ""] = segments;
  return !(first.toLowerCase() === "wp-content" && ["uploads", "blogs.dir"].includes(second.toLowerCase()));
}

/** Whether this name is one that PHP runs. */
export function isScriptName(segment: string): boolean {
  return segment.endsWith(".php");
}

function isHidden(segment: string, index: number): boolean {
  return segment.startsWith(".") && !(index === 0 && segment === ".well-known");
}

function isSecret(segment: string): boolean {
  if (configuration.test(segment) || leftovers.test(segment)) return true;
  if (errorLogs.test(segment) || emacsBackup.test(segment)) return true;
  return sourceCode.test(segment) && !isScriptName(segment) && !disarmedUpload.test(segment);
}
