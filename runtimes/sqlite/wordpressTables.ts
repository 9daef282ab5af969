/** Checks for WordPress's tables. PHP writes the database, so anything expected may be missing. */
import type { DatabaseSync } from "node:sqlite";
import { RuntimeFailure } from "../runtime.ts";

const neededColumns = {
  wp_options: ["option_name", "option_value"],
  wp_users: ["ID", "user_login", "user_email"],
  wp_usermeta: ["user_id", "meta_key", "meta_value"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export const advice = "Repair it, or create a new environment instead.";

/**
 * Whether a real table with these columns exists. Views and generated columns don't count: reading one may never end.
 */
export function hasTable(database: DatabaseSync, name: string, columns: readonly string[]): boolean {
  const isTable = database
    .prepare("SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name = ?")
    .get(name);
  if (isTable === undefined) return false;
  const found = database.prepare("SELECT name FROM pragma_table_info(?, 'main')").all(name);
  return columns.every((column) => found.some((each) => each.name === column));
}

/** Throws `RuntimeFailure` naming the first missing table. */
export function requireTables(database: DatabaseSync, names: readonly (keyof typeof neededColumns)[]): void {
  const missing = names.find((name) => !hasTable(database, name, neededColumns[name]));
  if (missing === undefined) return;
  throw new RuntimeFailure(`The site's database has no WordPress table ${missing}. ${advice}`);
}
