/** What lies in a database folder. PHP writes it, so that nothing in it can be taken for granted. */
import { open, readdir } from "node:fs/promises";
import path from "node:path";
import { unlessGone } from "../webRoot.ts";

export interface DatabaseFiles {
  /** Paths relative to the folder; a folder stands before what is in it. */
  readonly folders: readonly string[];
  /** SQLite databases, told by their first bytes. */
  readonly databases: readonly string[];
  /** Everything else but links, and but what SQLite keeps beside a database while it writes. */
  readonly others: readonly string[];
}

const magic = "SQLite format 3\0";
const companions = ["-journal", "-wal", "-shm"];

async function isDatabase(file: string): Promise<boolean> {
  // A journal may have vanished since it was listed: its database was written meanwhile.
  const handle = await unlessGone(open(file, "r"));
  if (handle === null) return false;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(magic.length), 0, magic.length, 0);
    return bytesRead === magic.length && buffer.toString("latin1") === magic;
  } finally {
    await handle.close();
  }
}

export async function listDatabaseFiles(folder: string): Promise<DatabaseFiles> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const relative = (entry: (typeof entries)[number]) => path.relative(folder, path.join(entry.parentPath, entry.name));
  const files = entries.filter((entry) => entry.isFile()).map(relative);
  const databases: string[] = [];
  for (const file of files) if (await isDatabase(path.join(folder, file))) databases.push(file);
  const beside = new Set(databases.flatMap((file) => companions.map((companion) => file + companion)));
  const folders = entries.filter((entry) => entry.isDirectory()).map(relative);
  return {
    folders: folders.toSorted(),
    databases: databases.filter((file) => !beside.has(file)),
    others: files.filter((file) => !databases.includes(file) && !beside.has(file)),
  };
}
