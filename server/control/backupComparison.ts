/** Compares two backups for the API. */
import type { App } from "../app/context.ts";
import type { Archives } from "../archives/archives.ts";
import { BackupDamaged } from "../archives/load.ts";

/** Milliseconds that reading two lists of files from an object store may take. */
const deadlineMilliseconds = 30_000;

export function compareBackups(archives: Pick<Archives, "compare">): App["compareBackups"] {
  return async (before, after) => {
    try {
      return await archives.compare(before, after, "public", AbortSignal.timeout(deadlineMilliseconds));
    } catch (error) {
      if (error instanceof BackupDamaged) return null;
      throw error;
    }
  };
}
