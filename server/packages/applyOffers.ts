/** Which of the versions that are offered suit what is installed: read again after either has changed. */
import type { Database, DatabaseTransaction } from "../store/database.ts";
import { markVulnerable } from "../store/packages/advisories.ts";
import { findPlatforms, type PlatformKeys, refreshUpdates } from "../store/packages/packageOffers.ts";
import { versionKey } from "./versions.ts";

/** Environments name the first two numbers of their PHP only; it is the newest of these. */
const lastPatch = ".999";

async function platformKeys(database: Database | DatabaseTransaction): Promise<PlatformKeys> {
  const { php, wordpress } = await findPlatforms(database);
  return {
    php: Object.fromEntries(php.map((version) => [version, versionKey(version + lastPatch)])),
    wordpress: Object.fromEntries(wordpress.map((version) => [version, versionKey(version)])),
  };
}

/** What is known to be offered, applied to what is installed in these environments; null: in all. */
export async function applyOffers(
  database: Database | DatabaseTransaction,
  environmentIds: readonly string[] | null,
): Promise<void> {
  await refreshUpdates(database, environmentIds, await platformKeys(database));
  await markVulnerable(database, environmentIds);
}
