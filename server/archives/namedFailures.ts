/** Error messages for a folder of archives that say that the archives failed, and what to do. */
import type { Blobs } from "./blobs.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";

const full = "The archives' disk is full. Free up space on it.";
const refused = "The archive folder can't be used. Check its owner, its permissions, and how its disk is mounted.";
const noFolder = "The archive folder is missing, or there is something else at its path.";
const broken = "The archives' disk is failing. Check the disk and its connection.";

/** Does not include transient errors. */
const meanings: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", full],
  ["EDQUOT", full],
  ["EROFS", refused],
  ["EACCES", refused],
  ["EPERM", refused],
  ["ENOENT", noFolder],
  ["ENOTDIR", noFolder],
  ["EEXIST", noFolder],
  ["EIO", broken],
  ["ESTALE", broken],
  ["ENODEV", broken],
  ["ENXIO", broken],
  ["ENOTCONN", broken],
  ["EHOSTDOWN", broken],
]);

/** Wraps blobs in a folder so that they fail like an object store, and errors are not mistaken for those of the site's disk. */
export function namingFailures(blobs: Blobs): Blobs {
  const naming = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw failureOf(error) ?? error;
    }
  };
  return {
    put: (...order) => naming(blobs.put(...order)),
    read: (...order) => naming(blobs.read(...order)),
    list: (...order) => naming(blobs.list(...order)),
    remove: (name) => naming(blobs.remove(name)),
  };
}

function failureOf(error: unknown): ObjectStoreFailure | null {
  if (!(error instanceof Error && "code" in error && typeof error.code === "string")) return null;
  const summary = meanings.get(error.code);
  if (summary === undefined) return null;
  return new ObjectStoreFailure(`${summary} ${error.message}`, { summary, isTransient: false });
}
