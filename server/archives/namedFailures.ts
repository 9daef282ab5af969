/** What goes wrong with a folder of archives, in words that say that it was the archives and what to do. */
import type { Blobs } from "./blobs.ts";
import { ObjectStoreFailure } from "./objectStoreFailure.ts";

const full = "The disk that the archives are kept on is full: make room on it.";
const refuses = "The archives' folder can't be used: look at its owner, its permissions, and how its disk is mounted.";
const noFolder = "Where the archives' folder should be there is something else.";
const broken = "The disk that the archives are kept on does not do what it is asked.";

/** What passes by itself is not among them. */
const meanings: ReadonlyMap<string, string> = new Map([
  ["ENOSPC", full],
  ["EDQUOT", full],
  ["EROFS", refuses],
  ["EACCES", refuses],
  ["EPERM", refuses],
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

/** The same blobs. Those of a folder fail as an object store does, so that it is not taken for a fault of the site's disk. */
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
