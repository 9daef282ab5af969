/** Whether the upper folder of an overlayfs has changes of the files below. */
import { lstat, opendir } from "node:fs/promises";
import path from "node:path";

/** A folder with more is taken for changed: reading it would take long. */
const maxEntries = 10_000;

/**
 * A file that was opened for writing is copied as it is. That alone is no change: only a file that differs from the one below, is
 * new, or stands for a removed one (a device) is. `below`: null if nothing is below.
 */
export async function hasChangedFiles(changes: string, below: string): Promise<boolean> {
  let count = 0;
  for await (const entry of await opendir(changes)) {
    count += 1;
    if (count > maxEntries) return true;
    const [copy, original] = [path.join(changes, entry.name), path.join(below, entry.name)];
    if (await differs(copy, original)) return true;
    if (entry.isDirectory() && (await hasChangedFiles(copy, original))) return true;
  }
  return false;
}

async function differs(copy: string, original: string): Promise<boolean> {
  const [one, other] = await Promise.all([
    lstat(copy, { bigint: true }),
    lstat(original, { bigint: true }).catch(() => null),
  ]);
  if (other === null) return true;
  const hasSameMode = one.mode === other.mode && one.uid === other.uid && one.gid === other.gid;
  // What changes in a folder is found in it.
  return !hasSameMode || (!one.isDirectory() && (one.size !== other.size || one.mtimeNs !== other.mtimeNs));
}
