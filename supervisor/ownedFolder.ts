/**
 * Folders that must belong to this user. `run` is in the system's temporary folder, where another user could have
 * created it first, so an existing folder is used only if this user owns it.
 */
import { chmodSync, lstatSync, mkdirSync } from "node:fs";

/**
 * Creates the folder with the given mode, or checks an existing one. Throws a user-facing error if it is not a folder,
 * belongs to another user, or is open to others.
 */
export function ensureOwnedFolder(path: string, mode = 0o700): void {
  const isNew = mkdirSync(path, { recursive: true, mode }) !== undefined;
  const found = lstatSync(path);
  if (!found.isDirectory()) {
    throw new Error(`${path} is not a folder. Remove it, then start again.`);
  }
  const self = process.getuid?.();
  if (self !== undefined && found.uid !== self) {
    throw new Error(
      `${path} belongs to another user (uid ${found.uid}), so it can't be trusted. Remove it, or choose another folder.`,
    );
  }
  // Never tighten the mode of an existing folder: it may be a shared one, such as /run, chosen by mistake.
  if (!isNew && (found.mode & 0o777 & ~mode) !== 0) {
    throw new Error(
      `${path} is open to other users (mode ${(found.mode & 0o777).toString(8)}); its mode must be ` +
        `${mode.toString(8)} or stricter. Choose a folder that no one else uses, or change its mode.`,
    );
  }
  // mkdir applied the umask.
  chmodSync(path, mode);
}
