/**
 * Paths that are never served and never run, whether or not the file exists. Checked for the URL's path and again for
 * the real path, so that a symbolic link can't expose a file under another name.
 *
 * Most patterns require a dot: `/wp-config-explained/` may be an article.
 */

/** Source code under any name but `….php`, which is run. */
const sourceCode = /\.(?:php\d*|phps|pht|phtml|phar)(?:[^a-z0-9].*)?$|\.inc[. ]*$/i;
/** How WordPress renames an upload called `x.php.jpg`. */
const disarmedUpload = /\.php\d?_\.[a-z0-9]+$/i;
const configuration = /^wp-config.*[.~]|^(?:php|\.user)\.ini$/i;
const leftovers =
  /(?:~|\.(?:bak|backup|old|orig|save|sw[a-p]|log|sql|dump|(?:sqlite|db)\d?(?:-\w+)?)(?:\.(?:gz|tgz|bz2|xz|zst|zip|7z|tar))?)$/i;
const errorLogs = /^(?:php_)?error_?log$/i;
const emacsBackup = /^#.*#$/;

/** Whether a path must be treated as not found. */
export function isForbidden(segments: readonly string[]): boolean {
  return segments.some((segment, index) => isHidden(segment, index) || isSecret(segment));
}

/** Whether PHP may run this script. Uploads may come from visitors, so they are only served as files. */
export function isRunnable(segments: readonly string[]): boolean {
  const [first = "", second = ""] = segments;
  return !(first.toLowerCase() === "wp-content" && ["uploads", "blogs.dir"].includes(second.toLowerCase()));
}

/** Whether PHP runs files with this name. */
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
