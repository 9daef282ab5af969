/** Opens a database for a piece of work. */
import { DatabaseSync } from "node:sqlite";

/**
 * Makes commits survive a power cut. With SQLite's default, FULL, the cut can undo the deletion of the journal, and with it the
 * transaction (`bench/powerCuts.ts`).
 */
export function makeCommitsDurable(database: DatabaseSync): void {
  database.exec("PRAGMA synchronous = EXTRA");
}

/** Calls `work` with the database in the file, which is created if it is missing, and closes it at the end. */
export function withDatabase<T>(file: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    makeCommitsDurable(database);
    return work(database);
  } finally {
    database.close();
  }
}
