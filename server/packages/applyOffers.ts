/** Determines the available updates of installed packages. Must run after offers or installed packages have changed. */
import type { Database, DatabaseTransaction } from "../store/database.ts";
import { markVulnerable } from "../store/packages/advisories.ts";
import { findPlatforms, type PlatformKeys, refreshUpdates } from "../store/packages/packageOffers.ts";
import { versionKey } from "./versions.ts";

/** Environments record only major and minor version of PHP, and run the newest patch. */
const lastPatch = ".999";

async function platformKeys(database: Database | DatabaseTransaction): Promise<PlatformKeys> {
  const { php, wordpress } = await findPlatforms(database);
  return {
    php: Object.fromEntries(php.map((version) => [version, versionKey(version + lastPatch)])),
    wordpress: Object.fromEntries(wordpress.map((version) => [version, versionKey(version)])),
  };
}

/** Updates the available updates and vulnerabilities of these environments, or of all if null. */
export async function applyOffers(
  database: Database | DatabaseTransaction,
  environmentIds: readonly string[] | null,
): Promise<void> {
  await refreshUpdates(database, environmentIds, await platformKeys(database));
  await markVulnerable(database, environmentIds);
}
