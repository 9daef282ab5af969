/** What lies in a web root: its own files, not the code that all sites share. */
import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { sharedFolders } from "../php/site.ts";

export interface OwnFile {
  readonly bytes: number;
  readonly modifiedMilliseconds: number;
  /** A symbolic link: never followed, its size is that of its target's name. */
  readonly isLink: boolean;
}

/** Which files are looked at, and which folders are entered. */
export interface Selection {
  readonly has: (file: string) => boolean;
  readonly leadsInto: (folder: string) => boolean;
}

/** Everything, or these files and what is below these folders; their slashes at the ends don't matter. */
export function select(names: readonly string[] | null): Selection {
  if (names === null) return { has: () => true, leadsInto: () => true };
  const wanted = names.map((name) => path.posix.normalize(`/${name}`).replace(/\/$/, ""));
  const has = (file: string) => wanted.some((name) => `/${file}`.startsWith(`${name}/`) || `/${file}` === name);
  return { has, leadsInto: (folder) => has(folder) || wanted.some((name) => name.startsWith(`/${folder}/`)) };
}

/** How many files are asked for at once. */
const batch = 64;

/** Gone, or something else by now: a folder on the way, a link, no link. */
const goneCodes = ["ENOENT", "ENOTDIR", "ELOOP", "EINVAL"];

/** The site may be in use: null for what has vanished since it was listed. */
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

/** Selected files by path relative to the web root, without a slash before it. Folders themselves are not listed. */
export async function ownFiles(root: string, selection: Selection): Promise<Map<string, OwnFile>> {
  const found = new Map<string, OwnFile>();

  async function walk(folder: string): Promise<void> {
    const entries = (await unlessGone(readdir(path.join(root, folder), { withFileTypes: true }))) ?? [];
    const isShared = (name: string) => folder === "" && sharedFolders.some((shared) => shared === name);
    const files: string[] = [];
    for (const entry of entries) {
      const name = path.posix.join(folder, entry.name);
      if (!entry.isDirectory()) files.push(name);
      else if (!isShared(entry.name) && selection.leadsInto(name)) await walk(name);
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
