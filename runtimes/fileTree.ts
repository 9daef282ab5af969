/** The files of a web root, as a tree, and how much room they take. */
import { lstat, readdir, statfs } from "node:fs/promises";
import path from "node:path";
import type { Part, Release } from "./releases.ts";
import { type DiskUse, type FileEntry, RuntimeFailure } from "./runtime.ts";

const maxEntries = 100_000;

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/**
 * Everything that is a file or a folder, by name. `shared`: first folders of the web root that are shown without what is
 * in them. Throws `RuntimeFailure` if there are more files than anybody could read.
 */
export async function listFiles(root: string, shared: readonly string[]): Promise<readonly FileEntry[]> {
  let entries = 0;

  async function list(folder: string): Promise<readonly FileEntry[]> {
    if (shared.some((name) => folder === `/${name}`)) return [];
    // A folder that has gone since it was listed is shown as an empty one.
    const found = await readdir(path.join(root, folder), { withFileTypes: true }).catch(() => []);
    entries += found.length;
    if (entries > maxEntries) {
      throw new RuntimeFailure(`This environment has more than ${maxEntries.toLocaleString("en")} files.`);
    }
    const listed: FileEntry[] = [];
    for (const entry of found.filter((each) => each.isFile() || each.isDirectory()).toSorted(byName)) {
      const place = `${folder}/${entry.name}`;
      const children = entry.isDirectory() ? { children: await list(place) } : {};
      listed.push({ name: entry.name, path: place, ...children });
    }
    return listed;
  }

  return list("");
}

/** Of so many files at the same time it is asked how large they are, because one after the other takes three times as long. */
const atOnce = 32;

/** The sizes of all files below the folder; what vanishes meanwhile has none. */
async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => path.join(folder, name));
  let bytes = 0;
  for (let start = 0; start < files.length; start += atOnce) {
    for (const size of await Promise.all(files.slice(start, start + atOnce).map(sizeOf))) bytes += size;
  }
  for (const entry of entries) if (entry.isDirectory()) bytes += await bytesIn(path.join(folder, entry.name));
  return bytes;
}

async function sizeOf(file: string): Promise<number> {
  const facts = await lstat(file).catch(() => null);
  return facts?.size ?? 0;
}

/** Of the current release. What of it is lost takes no room. */
export async function diskUse(release: Release): Promise<DiskUse> {
  const bytesOf = (part: Part) => bytesIn(path.join(release.folder, part));
  const { bavail, bsize } = await statfs(path.dirname(release.folder));
  return { files: await bytesOf("public"), database: await bytesOf("database"), free: bavail * bsize };
}
