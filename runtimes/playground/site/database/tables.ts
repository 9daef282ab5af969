/** What a WordPress database holds, as far as it is the site's own: its tables, their columns and keys. */
import type { DatabaseSync } from "node:sqlite";

export interface Table {
  readonly name: string;
  /** Without generated ones. */
  readonly columns: readonly string[];
  /** In the key's order; empty if there is none. */
  readonly primaryKey: readonly string[];
  readonly withoutRowid: boolean;
}

/** SQLite's own, and those in which WordPress's SQLite driver keeps what MySQL knows about tables. */
function isInternal(name: string): boolean {
  return name.startsWith("sqlite_") || name.startsWith("_wp_sqlite_");
}

/** Every table but internal and virtual ones, by name. `schema`: `main`, or what a database is attached as. */
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
