/** What operations change about a site's rows. Each tolerates that the rows are gone or changed already. */
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

/** The site, its environments and its domains. What was done with it stays in the activity log. */
export async function removeSiteRows(transaction: DatabaseTransaction, siteId: string): Promise<void> {
  // Their plugins go with them.
  await lockPackageWrites(transaction);
  await transaction.deleteFrom("sites").where("id", "=", siteId).execute();
}
