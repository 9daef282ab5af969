/**
 * Paths that are never served and never run. Names are checked for the URL's path, whether or not the file exists, and
 * again for the real path, so that a symbolic link can't expose a file under another name.
 */
import {
  archives,
  backupFolder,
  sensitiveFiles,
  sensitiveNames,
  sensitiveOutsideUploads,
  siteArchives,
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

/**
 * Whether an existing file must be treated as not found, although its name alone is not forbidden. `host` is the site's name,
 * after which archives of it are often named.
 */
export function isForbiddenFile(segments: readonly string[], host: string): boolean {
  const name = segments.at(-1) ?? "";
  const folders = segments.slice(0, -1);
  if (sensitiveFiles.some(({ pattern }) => pattern.test(name))) return true;
  if (!isUpload(segments) && sensitiveOutsideUploads.some(({ pattern }) => pattern.test(name))) return true;
  if (!archives.pattern.test(name)) return false;
  if (folders.length === 0) return isSiteArchive(name, host);
  return folders.join("/").toLowerCase() === "wp-content" || folders.some((folder) => backupFolder.test(folder));
}

/** Whether the name looks like that of an archive of the whole site. */
function isSiteArchive(name: string, host: string): boolean {
  const words = wordsOf(name.replace(archives.pattern, "").replace(/\.tar$/i, ""));
  const ofHost = wordsOf(host);
  if (siteArchives.anywhere.test(name) || isPartOf(ofHost, words.join(""))) return true;
  return words.every((word) => siteArchives.onlyWords.has(word) || ofHost.includes(word));
}

/** Whether the text is some successive words, without a space. */
function isPartOf(words: readonly string[], text: string): boolean {
  return words.some((_, from) => words.some((_, to) => words.slice(from, to + 1).join("") === text));
}

/** In lower case, without numbers. */
function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? [];
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
