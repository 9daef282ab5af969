/** Keeps an environment's temporary folder small. */
import { lstat, opendir, rmdir, unlink } from "node:fs/promises";
import path from "node:path";

/** As on many systems. Milliseconds. */
const keptMilliseconds = 10 * 86_400_000;

/**
 * Removes files that have not been changed for ten days, and folders that are empty after that. Empty files stay, because scripts
 * lock them. Errors are ignored: other processes remove files at the same time, and what is left is counted as used disk space.
 */
export async function removeOldFiles(folder: string, now: number = Date.now()): Promise<void> {
  try {
    for await (const entry of await opendir(folder)) {
      const file = path.join(folder, entry.name);
      // The time of the change of attributes, too: scripts that unpack archives set the other one to an old time.
      const { mtimeMs, ctimeMs, size } = await lstat(file);
      const isOld = Math.max(mtimeMs, ctimeMs) < now - keptMilliseconds;
      if (entry.isDirectory()) {
        await removeOldFiles(file, now);
        if (isOld) await rmdir(file).catch(() => undefined);
      } else if (isOld && size > 0) await unlink(file);
    }
  } catch {
    // The rest is removed another time.
  }
}
