/** Creates the database that PHP without WordPress gets. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { plainDatabaseFile } from "./databaseFiles.ts";
import { withDatabase } from "./withDatabase.ts";

/** Creates the folder with an empty database. */
export async function createPlainDatabase(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  // Without it the file would be empty, and could not be recognised as a database.
  withDatabase(path.join(folder, plainDatabaseFile), (database) => database.exec("VACUUM"));
}
