/** The files and folders of a tree that may be changing. Links, sockets and the like are left out. */
import { lstat, readdir } from "node:fs/promises";
import { isAbsent } from "./folders.ts";
import type { FileEntry, FolderEntry } from "./manifest.ts";

export type FoundFile = Omit<FileEntry, "pieces">;

/** No file's: it is read again the next time. */
export const unknownInode = 0n;

export interface Tree {
  readonly folders: readonly FolderEntry[];
  readonly files: readonly FoundFile[];
}

/** Permission bits without setuid and setgid. */
const permissions = 0o777n;
/** A file system's clock may stand still for so long: what was changed then may change again and look the same. */
const freshNanoseconds = 2_000_000_000n;

/** Where something of the tree is on the disk: names there are bytes, and not always a text. */
export function placeOf(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
}

/** It is not readable, not even by its owner. `message` may be shown to the customer. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}

/** How people know it. */
export function shownPath(path: string): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

/** Waits for work on what is at the path. Null if it has vanished since it was listed; rejects with `Unreadable`. */
export async function readable<T>(path: string, work: Promise<T>): Promise<T | null> {
  return work.catch((cause: unknown) => {
    if (isAbsent(cause)) return null;
    if (!(cause instanceof Error && "code" in cause && cause.code === "EACCES")) throw cause;
    const message = `${shownPath(path)} can't be backed up, because its permissions let nobody read it: change them.`;
    throw new Unreadable(message, { cause });
  });
}

/** In the order of paths. `found` is told how long each file is. Throws if the folder is not there. */
export async function listTree(root: string, found: (bytes: number) => void = () => undefined): Promise<Tree> {
  const folders: FolderEntry[] = [];
  const files: FoundFile[] = [];

  async function visit(path: string): Promise<void> {
    const entries = await readable(path, readdir(placeOf(root, path), { encoding: "latin1" }));
    const names = (entries ?? []).toSorted((a, b) => (a < b ? -1 : 1));
    const inside = names.map((name) => (path === "" ? name : `${path}/${name}`));
    const all = await Promise.all(inside.map((each) => readable(each, lstat(placeOf(root, each), { bigint: true }))));
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
