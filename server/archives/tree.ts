/** Lists the files and folders of a tree that may be changing. Links, sockets and similar entries are left out. */
import { listFolder, WalkFailed } from "@sitewright/runtimes/trees/walk.ts";
import { isAbsent } from "./folders.ts";
import type { FileEntry, FolderEntry } from "./manifest.ts";

export type FoundFile = Omit<FileEntry, "pieces">;

/** Not the inode of any file: the file is read again in the next backup. */
export const unknownInode = 0n;

export interface Tree {
  readonly folders: readonly FolderEntry[];
  readonly files: readonly FoundFile[];
}

/** Resolution of file system clocks. A file that was changed within this time may change again without a new time. */
const freshNanoseconds = 2_000_000_000n;

/** Path on the disk, as bytes: names are not always valid UTF-8. */
export function diskPath(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
}

/** The file's permissions let no one read it. `message` may be shown to the customer. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}

/** The path as shown to people. */
export function displayPath(path: string): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

/** The error as `Unreadable` if it is for lack of permission. */
function explained(path: string, cause: unknown): unknown {
  if (!(cause instanceof Error && "code" in cause && cause.code === "EACCES")) return cause;
  const message = `${displayPath(path)} can't be backed up: its permissions let no one read it. Change its permissions.`;
  return new Unreadable(message, { cause });
}

/** Awaits `work` on a path. Null if it has vanished since it was listed. Rejects with `Unreadable`. */
export async function orNullIfVanished<T>(path: string, work: Promise<T>): Promise<T | null> {
  return work.catch((cause: unknown) => {
    if (isAbsent(cause)) return null;
    throw explained(path, cause);
  });
}

/** Sorted by path. Rejects if the folder does not exist, and with `Unreadable`. */
export async function listTree(root: string): Promise<Tree> {
  const began = BigInt(Date.now()) * 1_000_000n;
  const { folders, files } = await listFolder(root).catch((error: unknown) => {
    throw error instanceof WalkFailed ? explained(error.path, error) : error;
  });
  const isFresh = (modified: bigint) => began - modified < freshNanoseconds;
  return { folders, files: files.map((file) => (isFresh(file.modified) ? { ...file, inode: unknownInode } : file)) };
}
