/** Lists the files and folders of a tree that may be changing. Links, sockets and similar entries are left out. */
import { lstat, readdir } from "node:fs/promises";
import { isAbsent } from "./folders.ts";
import type { FileEntry, FolderEntry } from "./manifest.ts";

export type FoundFile = Omit<FileEntry, "pieces">;

/** Not the inode of any file: the file is read again in the next backup. */
export const unknownInode = 0n;

export interface Tree {
  readonly folders: readonly FolderEntry[];
  readonly files: readonly FoundFile[];
}

/** Permission bits without setuid and setgid. */
const permissions = 0o777n;
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

/** Awaits `work` on a path. Null if it has vanished since it was listed. Rejects with `Unreadable`. */
export async function orNullIfVanished<T>(path: string, work: Promise<T>): Promise<T | null> {
  return work.catch((cause: unknown) => {
    if (isAbsent(cause)) return null;
    if (!(cause instanceof Error && "code" in cause && cause.code === "EACCES")) throw cause;
    const message = `${displayPath(path)} can't be backed up: its permissions let no one read it. Change its permissions.`;
    throw new Unreadable(message, { cause });
  });
}

/** Sorted by path. `found` is called with the size of each file. Rejects if the folder does not exist. */
export async function listTree(root: string, found: (bytes: number) => void = () => undefined): Promise<Tree> {
  const folders: FolderEntry[] = [];
  const files: FoundFile[] = [];

  async function visit(path: string): Promise<void> {
    const entries = await orNullIfVanished(path, readdir(diskPath(root, path), { encoding: "latin1" }));
    const names = (entries ?? []).toSorted((a, b) => (a < b ? -1 : 1));
    const inside = names.map((name) => (path === "" ? name : `${path}/${name}`));
    const all = await Promise.all(
      inside.map((each) => orNullIfVanished(each, lstat(diskPath(root, each), { bigint: true }))),
    );
    for (const [at, facts] of all.entries()) {
      const each = inside[at];
      if (facts === null || each === undefined) continue;
      const mode = Number(facts.mode & permissions);
      if (facts.isDirectory()) {
        folders.push({ path: each, mode });
        await visit(each);
      } else if (facts.isFile()) {
        const { mtimeNs: modified, ino, size } = facts;
        const inode = began - modified < freshNanoseconds ? unknownInode : ino;
        found(Number(size));
        files.push({ path: each, mode, bytes: Number(size), modified, inode });
      }
    }
  }

  const began = BigInt(Date.now()) * 1_000_000n;
  await lstat(root);
  await visit("");
  return { folders, files };
}
