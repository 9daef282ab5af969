/** Where WordPress looks up at which address it is, in a database that PHP has written: every value may be anything. */
import type { DatabaseSync } from "node:sqlite";
import { quoted } from "../../templates/places.ts";
import { siteTables } from "../database/tables.ts";

interface PlaceholderPosition {
  readonly columns: readonly string[];
  /** A query for the rows with an address, each as `name` and `value`. */
  readonly select: string;
}

const places: readonly PlaceholderPosition[] = [
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

/** Value by where it stands: `wp_options: home`. */
export function siteAddresses(database: DatabaseSync): ReadonlyMap<string, string> {
  const found = siteTables(database).flatMap((table) =>
    places
      .filter(({ columns }) => columns.every((column) => table.columns.includes(column)))
      .flatMap(({ select }) => database.prepare(select.replace("$", () => quoted(table.name))).all())
      .map(({ name, value }) => [`${table.name}: ${String(name)}`, String(value)] as const),
  );
  return new Map(found);
}
