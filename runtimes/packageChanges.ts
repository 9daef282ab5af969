/**
 * Whether files of plugins and themes have changed since a time, without reading any of them. The time of the last change of a
 * file's facts (`ctime`) can't be set to another one.
 */
import { lstatSync } from "node:fs";
import { opendir } from "node:fs/promises";
import path from "node:path";

/** With more files, they count as changed. */
const maxFiles = 5_000;
/** Below `plugins` and `themes`: their folders, and the files in these. */
const depth = 2;

/**
 * Whether the file or folder existed at `since`, in milliseconds since 1970, and has not changed. False for a link, whose target
 * may have changed.
 */
export function isUnchanged(file: string, since: number): boolean {
  // Synchronous on purpose: the system has the answer in memory, and thousands of asynchronous calls would take longer.
  const facts = lstatSync(file, { throwIfNoEntry: false });
  return facts !== undefined && facts.ctimeMs < since && (facts.isFile() || facts.isDirectory());
}

/** `webRoot` is a path without symbolic links. */
export async function arePackagesUnchanged(webRoot: string, since: number): Promise<boolean> {
  const content = path.join(webRoot, "wp-content");
  if (!isUnchanged(content, since)) return false;
  let left = maxFiles;

  async function isTreeUnchanged(folder: string, levels: number): Promise<boolean> {
    if (!isUnchanged(folder, since)) return false;
    // Not all at once: there may be millions.
    for await (const entry of await opendir(folder)) {
      left -= 1;
      if (left < 0) return false;
      const file = path.join(folder, entry.name);
      const isSame =
        entry.isDirectory() && levels > 1 ? await isTreeUnchanged(file, levels - 1) : isUnchanged(file, since);
      if (!isSame) return false;
    }
    return true;
  }

  const folders = ["plugins", "themes"].map((name) => path.join(content, name));
  for (const folder of folders) {
    const isMissing = lstatSync(folder, { throwIfNoEntry: false }) === undefined;
    if (!isMissing && !(await isTreeUnchanged(folder, depth))) return false;
  }
  return true;
}
