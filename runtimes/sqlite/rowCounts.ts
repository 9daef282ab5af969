/** Counts the rows of databases that are not being written. */
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { RowCounts } from "../runtime.ts";
import { listDatabaseFiles } from "./databaseFiles.ts";
import { quoted } from "./findPlaceholders.ts";
import { siteTables } from "./tables.ts";

function countTables(file: string): readonly (readonly [table: string, rows: number])[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return siteTables(database).map(({ name }) => {
      const row = database.prepare(`SELECT count(*) AS rows FROM ${quoted(name)}`).get();
      return [name, Number(row?.rows)] as const;
    });
  } finally {
    database.close();
  }
}

/**
 * Counts the rows of every database in the folder. Tables of databases other than `main` are prefixed with the
 * database's path.
 */
export async function countRowsIn(folder: string, main: string): Promise<RowCounts> {
  const { databases } = await listDatabaseFiles(folder);
  const counts = databases.flatMap((file) =>
    countTables(path.join(folder, file)).map(
      ([table, rows]) => [file === main ? table : `${file}: ${table}`, rows] as const,
    ),
  );
  return Object.fromEntries(counts);
}
