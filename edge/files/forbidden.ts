/**
 * Paths that are never served and never run. Names are checked for the URL's path, whether or not the file exists, and
 * again for the real path, so that a symbolic link can't expose a file under another name.
 */
import {
  archiveFolders,
  archives,
  backupFolder,
  sensitiveFiles,
  sensitiveNames,
  sensitiveOutsideUploads,
} from "./sensitiveNames.ts";

/** Source code under any name but `….php`, which is run. */
const sourceCode = /\.(?:php\d*|phps|pht|phtml|phar)(?:[^a-z0-9].*)?$|\.inc[. ]*$/i;
/** How WordPress renames an upload called `x.php.jpg`. */
const disarmedUpload = /\.php\d?_\.[a-z0-9]+$/i;
/** Folder that certificate authorities and other services read. Programs that prove a domain write files into it. */
const wellKnown = ".well-known";

/** Whether a path must be treated as not found. */
export function isForbidden(segments: readonly string[]): boolean {
  return segments.some((segment, index) => isHidden(segment, index) || isSecret(segment));
}

/** Whether an existing file must be treated as not found, although its name alone is not forbidden. */
export function isForbiddenFile(segments: readonly string[]): boolean {
  const name = segments.at(-1) ?? "";
  const folders = segments.slice(0, -1);
  if (sensitiveFiles.some(({ pattern }) => pattern.test(name))) return true;
  if (!isUpload(segments) && sensitiveOutsideUploads.some(({ pattern }) => pattern.test(name))) return true;
  if (!archives.pattern.test(name)) return false;
  return (
    archiveFolders.includes(folders.join("/").toLowerCase()) || folders.some((folder) => backupFolder.test(folder))
  );
}

/** Whether PHP may run this script. Not if it may be an upload of a visitor, or of a program that proves a domain. */
export function isRunnable(segments: readonly string[]): boolean {
  return !isUpload(segments) && segments[0]?.toLowerCase() !== wellKnown;
}

/** Whether the file may be an upload of a visitor. */
export function isUpload([first = "", second = ""]: readonly string[]): boolean {
  return first.toLowerCase() === "wp-content" && ["uploads", "blogs.dir"].includes(second.toLowerCase());
}

/** Whether PHP runs files with this name. */
export function isScriptName(segment: string): boolean {
  return segment.endsWith(".php");
}

function isHidden(segment: string, index: number): boolean {
  return segment.startsWith(".") && !(index === 0 && segment === wellKnown);
}

function isSecret(segment: string): boolean {
  if (sensitiveNames.some(({ pattern }) => pattern.test(segment))) return true;
  return sourceCode.test(segment) && !isScriptName(segment) && !disarmedUpload.test(segment);
}
