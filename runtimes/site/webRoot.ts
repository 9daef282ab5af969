/** Lists a web root's own files, without the code that all sites share. */
import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { sharedFolders } from "./sharedCode.ts";

export interface OwnFile {
  readonly bytes: number;
  readonly modifiedMilliseconds: number;
  /** A symbolic link. It is never followed; its size is the length of its target path. */
  readonly isLink: boolean;
}

/** Which files are listed, and which folders are entered. */
export interface Selection {
  readonly has: (file: string) => boolean;
  readonly enters: (folder: string) => boolean;
}

/** Selects everything, or these files and everything below these folders. Trailing slashes don't matter. */
export function select(names: readonly string[] | null): Selection {
  if (names === null) return { has: () => true, enters: () => true };
  const wanted = names.map((name) => path.posix.normalize(`/${name}`).replace(/\/$/, ""));
  const has = (file: string) => wanted.some((name) => `/${file}`.startsWith(`${name}/`) || `/${file}` === name);
  return { has, enters: (folder) => has(folder) || wanted.some((name) => name.startsWith(`/${folder}/`)) };
}

/** How many files are examined at once. */
const batch = 64;

/**
 * Errors for a file that is gone or has been replaced: by a folder on the way, a link, or something other than a link.
 */
const goneCodes = ["ENOENT", "ENOTDIR", "ELOOP", "EINVAL"];

/** Returns null if a file has vanished since it was listed: the site may be in use. */
export async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((error: unknown) => {
    if (error instanceof Error && "code" in error && goneCodes.includes(String(error.code))) return null;
    throw error;
  });
}

async function describe(file: string): Promise<OwnFile | null> {
  const facts = await unlessGone(lstat(file));
  if (facts === null || !(facts.isFile() || facts.isSymbolicLink())) return null;
  return { bytes: facts.size, modifiedMilliseconds: facts.mtimeMs, isLink: facts.isSymbolicLink() };
}

/** Lists selected files by path relative to the web root, without a leading slash. Folders are not listed. */
export async function ownFiles(root: string, selection: Selection): Promise<Map<string, OwnFile>> {
  const found = new Map<string, OwnFile>();

  async function walk(folder: string): Promise<void> {
    const entries = (await unlessGone(readdir(path.join(root, folder), { withFileTypes: true }))) ?? [];
    const isShared = (name: string) => folder === "" && sharedFolders.some((shared) => shared === name);
    const files: string[] = [];
    for (const entry of entries) {
      const name = path.posix.join(folder, entry.name);
      if (!entry.isDirectory()) files.push(name);
      else if (!isShared(entry.name) && selection.enters(name)) await walk(name);
    }
    const wanted = files.filter(selection.has);
    for (let start = 0; start < wanted.length; start += batch) {
      const described = wanted.slice(start, start + batch).map(async (name) => {
        const file = await describe(path.join(root, name));
        if (file !== null) found.set(name, file);
      });
      await Promise.all(described);
    }
  }

  await walk("");
  return found;
}
