/** Opens a database for a piece of work. */
import { DatabaseSync } from "node:sqlite";

/** Calls `work` with the database in the file, which is created if it is missing, and closes it at the end. */
export function withDatabase<T>(file: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}
