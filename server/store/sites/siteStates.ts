/** Changes of operations to a site. Idempotent; they do nothing if the site is gone. */
import type { Database, DatabaseTransaction, Sites } from "../database.ts";
import { lockPackageWrites } from "../packages/packageWriteLock.ts";

export async function setSiteState(
  database: Database | DatabaseTransaction,
  siteId: string,
  state: Sites["state"],
): Promise<void> {
  await database.updateTable("sites").set({ state }).where("id", "=", siteId).execute();
}

export async function noteWordPressVersion(
  database: Database | DatabaseTransaction,
  environmentId: string,
  version: string,
): Promise<void> {
  await database
    .updateTable("environments")
    .set({ wordpress_version: version })
    .where("id", "=", environmentId)
    .execute();
}

/** Removes the site, its environments and its domains. Its activity log stays. */
export async function removeSiteRows(transaction: DatabaseTransaction, siteId: string): Promise<void> {
  // Their packages are deleted with them.
  await lockPackageWrites(transaction);
  await transaction.deleteFrom("sites").where("id", "=", siteId).execute();
}
