/** Lists the files of a web root as a tree, and measures disk usage. */
import type { Dirent } from "node:fs";
import { lstat, opendir, readdir } from "node:fs/promises";
import path from "node:path";
import type { Part, Release } from "./releases.ts";
import { type DiskUse, type FileEntry, RuntimeFailure } from "./runtime.ts";
import { bytesIn } from "./trees/walk.ts";

const maxEntries = 100_000;

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/**
 * Lists all files and folders, sorted by name. `shared`: top-level folders whose content is not listed. Throws
 * `RuntimeFailure` if there are too many files to list.
 */
export async function listFiles(root: string, shared: readonly string[]): Promise<readonly FileEntry[]> {
  let entries = 0;

  async function list(folder: string): Promise<readonly FileEntry[]> {
    if (shared.some((name) => folder === `/${name}`)) return [];
    // A folder that has been removed since it was listed is shown as empty.
    const found = await readdir(path.join(root, folder), { withFileTypes: true }).catch(() => []);
    entries += found.length;
    if (entries > maxEntries) {
      throw new RuntimeFailure(`This environment has more than ${maxEntries.toLocaleString("en")} files.`);
    }
    const listed: FileEntry[] = [];
    for (const entry of found.filter((each) => each.isFile() || each.isDirectory()).toSorted(byName)) {
      const entryPath = `${folder}/${entry.name}`;
      const children = entry.isDirectory() ? { children: await list(entryPath) } : {};
      listed.push({ name: entry.name, path: entryPath, ...children });
    }
    return listed;
  }

  return list("");
}

/** How many files are looked at at once. One after the other takes three times as long. */
const concurrency = 32;

/**
 * Whether a file or folder below the folder has changed since the time (milliseconds since 1970). Files that vanish meanwhile count
 * as changed, through their folder, and so does a folder with very many.
 */
export async function hasChangedSince(folder: string, time: number): Promise<boolean> {
  const opened = await opendir(folder).catch(() => null);
  if (opened === null) return true;
  const entries: Dirent[] = [];
  for await (const entry of opened) {
    entries.push(entry);
    if (entries.length > maxEntries) return true;
  }
  if (await isNewer(folder, time)) return true;
  for (let start = 0; start < entries.length; start += concurrency) {
    const files = entries.slice(start, start + concurrency).filter((entry) => !entry.isDirectory());
    const found = await Promise.all(files.map(({ name }) => isNewer(path.join(folder, name), time)));
    if (found.includes(true)) return true;
  }
  for (const entry of entries) {
    if (entry.isDirectory() && (await hasChangedSince(path.join(folder, entry.name), time))) return true;
  }
  return false;
}

async function isNewer(file: string, time: number): Promise<boolean> {
  const facts = await lstat(file).catch(() => null);
  return facts === null || facts.ctimeMs >= time;
}

/** Folders of an environment that belong to no release. */
export const temporaryFolders = { sessions: "sessions", temporary: "temporary" };

/** Disk usage of the environment in the folder `live` with this release. Missing parts count as 0. */
export async function diskUse(live: string, release: Release): Promise<DiskUse> {
  const bytesOf = (part: Part) => bytesIn(path.join(release.folder, part));
  let temporary = 0;
  for (const name of Object.values(temporaryFolders)) temporary += await bytesIn(path.join(live, name));
  return { files: await bytesOf("public"), database: await bytesOf("database"), temporary };
}
