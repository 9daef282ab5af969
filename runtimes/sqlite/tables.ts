/** Lists the site's own tables of a database, with their columns and keys. */
import type { DatabaseSync } from "node:sqlite";

export interface Table {
  readonly name: string;
  /** Without generated columns. */
  readonly columns: readonly string[];
  /** In the order of the key; empty if there is none. */
  readonly primaryKey: readonly string[];
  readonly withoutRowid: boolean;
}

/** Whether a table belongs to SQLite, or to WordPress's SQLite driver, which stores MySQL's schema in tables. */
function isInternal(name: string): boolean {
  return name.startsWith("sqlite_") || name.startsWith("_wp_sqlite_");
}

/**
 * Lists all tables except internal and virtual ones, by name. `schema`: `main`, or the name of an attached database.
 */
export function siteTables(database: DatabaseSync, schema = "main"): Table[] {
  const columnsOf = database.prepare("SELECT name, pk FROM pragma_table_info(?, ?)");
  return database
    .prepare("SELECT name, wr FROM pragma_table_list WHERE schema = ? AND type = 'table' ORDER BY name")
    .all(schema)
    .filter(({ name }) => !isInternal(String(name)))
    .map((table) => {
      const columns = columnsOf
        .all(String(table.name), schema)
        .map(({ name, pk }) => ({ name: String(name), key: Number(pk) }));
      return {
        name: String(table.name),
        columns: columns.map(({ name }) => name),
        primaryKey: columns
          .filter(({ key }) => key > 0)
          .toSorted((one, other) => one.key - other.key)
          .map(({ name }) => name),
        withoutRowid: table.wr === 1,
      };
    });
}
