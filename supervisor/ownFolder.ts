/**
 * Folders that only we may have made. `run` lies below the system's temporary folder, where any user can
 * create names in advance: a folder found there is used only if it is really ours.
 */
import { chmodSync, lstatSync, mkdirSync } from "node:fs";

/**
 * Makes the folder with the given mode, or takes the one that is there if this user owns it.
 * Throws with a sentence for the person where another user owns it or may use it, or where it is not a folder.
 */
export function ownFolder(path: string, mode = 0o700): void {
  const isNew = mkdirSync(path, { recursive: true, mode }) !== undefined;
  const found = lstatSync(path);
  if (!found.isDirectory()) {
    throw new Error(`${path} is not a folder. Remove it, then start again.`);
  }
  const self = process.getuid?.();
  if (self !== undefined && found.uid !== self) {
    throw new Error(
      `${path} belongs to another user (uid ${found.uid}), so it can't be trusted. Remove it, or name another folder.`,
    );
  }
  // A folder that was named by mistake, such as /run, must not be closed to its other users.
  if (!isNew && (found.mode & 0o777 & ~mode) !== 0) {
    throw new Error(
      `${path} is open to other users (mode ${(found.mode & 0o777).toString(8)}), and must be of mode ` +
        `${mode.toString(8)} at most. Name a folder that nobody else uses, or change its mode.`,
    );
  }
  // The mode at its making was subject to the umask.
  chmodSync(path, mode);
}
