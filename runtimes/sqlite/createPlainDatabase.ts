/** Creates the database that PHP without WordPress gets. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { plainDatabaseFile } from "./databaseFiles.ts";

/** Creates the folder with an empty database. */
export async function createPlainDatabase(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const database = new DatabaseSync(path.join(folder, plainDatabaseFile));
  try {
    // Otherwise the file would be empty, and could not be recognised as a database.
    database.exec("VACUUM");
  } finally {
    database.close();
  }
}
