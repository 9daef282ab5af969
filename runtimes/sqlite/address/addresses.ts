/** Replaces a site's address everywhere in its database. */
import { DatabaseSync } from "node:sqlite";
import type { AddressChange } from "../../runtime.ts";
import { addressChanger } from "../../site/values/addressChanger.ts";
import { markOf } from "../../site/values/addressPattern.ts";
import { changeTexts } from "../replace/tableTexts.ts";
import { siteTables } from "../tables.ts";
import { makeCommitsDurable } from "../withDatabase.ts";

/**
 * Replaces addresses in every text of the database, or of these tables, in one transaction. The file must not be in
 * use. A text stays if the change would violate a constraint of its table, such as uniqueness. Returns the number of
 * changed rows.
 */
export function changeAddresses(
  file: string,
  changes: readonly AddressChange[],
  tables?: readonly string[],
): { readonly rows: number } {
  if (changes.length === 0) return { rows: 0 };
  const change = addressChanger(changes);
  const marks = [...new Set(changes.map(({ from }) => markOf(new URL(from).hostname)))];
  // Foreign keys are not enforced: a key that changes in one table changes in all of them.
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  try {
    makeCommitsDurable(database);
    database.exec("BEGIN IMMEDIATE");
    const wanted = siteTables(database).filter(({ name }) => tables?.includes(name) ?? true);
    const rows = wanted.reduce((sum, table) => sum + changeTexts(database, table, marks, change), 0);
    database.exec("COMMIT");
    return { rows };
  } finally {
    database.close();
  }
}
