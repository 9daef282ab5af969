/**
 * Reads the columns in which WordPress stores its address, from a database that PHP has written: any value is possible.
 */
import type { DatabaseSync } from "node:sqlite";
import { quoted } from "../findPlaceholders.ts";
import { siteTables } from "../tables.ts";

interface AddressColumns {
  readonly columns: readonly string[];
  /** Query for the rows with an address, each as `name` and `value`. */
  readonly select: string;
}

const addressColumns: readonly AddressColumns[] = [
  {
    columns: ["option_name", "option_value"],
    select: "SELECT option_name AS name, option_value AS value FROM $ WHERE option_name IN ('siteurl', 'home')",
  },
  {
    columns: ["blog_id", "domain", "path"],
    select: "SELECT 'domain of site ' || blog_id AS name, domain || path AS value FROM $",
  },
  {
    columns: ["id", "domain", "path"],
    select: "SELECT 'domain of network ' || id AS name, domain || path AS value FROM $",
  },
];

/** Returns the addresses by location, such as `wp_options: home`. */
export function siteAddresses(database: DatabaseSync): ReadonlyMap<string, string> {
  const found = siteTables(database).flatMap((table) =>
    addressColumns
      .filter(({ columns }) => columns.every((column) => table.columns.includes(column)))
      .flatMap(({ select }) => database.prepare(select.replace("$", () => quoted(table.name))).all())
      .map(({ name, value }) => [`${table.name}: ${String(name)}`, String(value)] as const),
  );
  return new Map(found);
}
