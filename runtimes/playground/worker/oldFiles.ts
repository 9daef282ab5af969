/** Keeps an environment's temporary folder small. */
import { lstat, opendir, rmdir, unlink } from "node:fs/promises";
import path from "node:path";

/** How long unchanged files are kept, in milliseconds. Many systems use the same time for `/tmp`. */
const keptMilliseconds = 10 * 86_400_000;

/**
 * Removes files that have not been changed for ten days, and folders that are empty after that. Empty files stay, because scripts
 * use them as locks. Errors are ignored: other processes remove files at the same time, and files that stay count as used space.
 */
export async function removeOldFiles(folder: string, now: number = Date.now()): Promise<void> {
  try {
    for await (const entry of await opendir(folder)) {
      const file = path.join(folder, entry.name);
      // Scripts that unpack archives set `mtime` to an old time, but can't set `ctime`.
      const { mtimeMs, ctimeMs, size } = await lstat(file);
      const isOld = Math.max(mtimeMs, ctimeMs) < now - keptMilliseconds;
      if (entry.isDirectory()) {
        await removeOldFiles(file, now);
        if (isOld) await rmdir(file).catch(() => undefined);
      } else if (isOld && size > 0) await unlink(file);
    }
  } catch {
    // The next worker that starts removes the rest.
  }
}
