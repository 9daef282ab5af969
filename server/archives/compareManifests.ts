/** Compares the lists of files of two backups. */
import type { FileEntry, Manifest } from "./manifest.ts";

export interface ComparedFiles {
  readonly count: number;
  readonly bytes: number;
  /** The first hundred, sorted by path. */
  readonly listed: readonly { readonly path: string; readonly bytes: number }[];
}

export interface FileDifferences {
  readonly added: ComparedFiles;
  readonly changed: ComparedFiles;
  readonly removed: ComparedFiles;
}

const maxListed = 100;

/** Files below `folder`, to which the paths are relative. */
export function compareManifests(before: Manifest, after: Manifest, folder: string): FileDifferences {
  const [earlier, later] = [filesBelow(before, folder), filesBelow(after, folder)];
  const changed = [...later].filter(([path, file]) => {
    const known = earlier.get(path);
    return known !== undefined && !isSame(known, file);
  });
  return {
    added: summary([...later].filter(([path]) => !earlier.has(path))),
    changed: summary(changed),
    removed: summary([...earlier].filter(([path]) => !later.has(path))),
  };
}

function filesBelow({ files }: Manifest, folder: string): ReadonlyMap<string, FileEntry> {
  const prefix = `${folder}/`;
  const found = files.filter(({ path }) => path.startsWith(prefix));
  return new Map(found.map((file) => [file.path.slice(prefix.length), file]));
}

/** The names of pieces differ for the same content after a change of the archive key. Then the time of the change decides. */
function isSame(one: FileEntry, other: FileEntry): boolean {
  if (one.bytes !== other.bytes) return false;
  return one.modified === other.modified || Buffer.concat(one.pieces).equals(Buffer.concat(other.pieces));
}

function summary(files: readonly (readonly [path: string, file: FileEntry])[]): ComparedFiles {
  const found = files.map(([path, { bytes }]) => ({ path, bytes }));
  const listed = found.toSorted((one, other) => (one.path < other.path ? -1 : 1)).slice(0, maxListed);
  return { count: found.length, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0), listed };
}
