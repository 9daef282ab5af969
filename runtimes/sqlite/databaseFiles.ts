/** The files of a database folder. PHP writes it, so its content is untrusted. */
import { open, readdir } from "node:fs/promises";
import path from "node:path";
import { unlessGone } from "../site/webRoot.ts";

interface DatabaseFiles {
  /** Paths relative to the folder; each folder precedes its content. */
  readonly folders: readonly string[];
  /** SQLite databases, recognised by their first bytes. */
  readonly databases: readonly string[];
  /** All other files except links and SQLite's temporary files of the databases. */
  readonly others: readonly string[];
}

/** The database of a WordPress. */
export const databaseFile = "wordpress.sqlite";
/** The database that PHP without WordPress gets. */
export const plainDatabaseFile = "database.sqlite";

/** File name of the database whose tables can be selected. The folder may contain other databases. */
export function mainDatabase({ hasWordPress }: { readonly hasWordPress: boolean }): string {
  return hasWordPress ? databaseFile : plainDatabaseFile;
}

const magic = "SQLite format 3\0";
const temporarySuffixes = ["-journal", "-wal", "-shm"];

async function isDatabase(file: string): Promise<boolean> {
  // A journal may have vanished since it was listed, when its database was written.
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
  const temporary = new Set(databases.flatMap((file) => temporarySuffixes.map((suffix) => file + suffix)));
  const folders = entries.filter((entry) => entry.isDirectory()).map(relative);
  return {
    folders: folders.toSorted(),
    databases: databases.filter((file) => !temporary.has(file)),
    others: files.filter((file) => !databases.includes(file) && !temporary.has(file)),
  };
}
