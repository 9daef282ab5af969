/** Asks the package source what is new, for everything that is installed anywhere: one question for a hundred plugins, whoever has them. */
import type { Offer, PackageSource } from "../packages/source.ts";
import { versionKey } from "../packages/versions.ts";
import type { Database, DatabaseTransaction } from "../store/database.ts";
import { markOffersVulnerable, markVulnerable } from "../store/packages/advisories.ts";
import {
  findPlatforms,
  findToCheck,
  type NewOffer,
  noteOffers,
  type PlatformKeys,
  refreshUpdates,
} from "../store/packages/packageOffers.ts";

export interface ReadOffersOptions {
  readonly database: Database;
  readonly source: Pick<PackageSource, "newest">;
}

/** In one question. */
const together = 100;

function keyOrNull(version: string | null): string | null {
  return version === null ? null : versionKey(version);
}

function rowOf(file: string, offer: Offer | undefined): NewOffer {
  return {
    file,
    slug: offer?.slug ?? null,
    version: offer?.version ?? null,
    version_key: keyOrNull(offer?.version ?? null),
    php_key: keyOrNull(offer?.php ?? null),
    wordpress_key: keyOrNull(offer?.wordpress ?? null),
  };
}

/** What is due. What was answered before a failure counts. */
export async function readOffers({ database, source }: ReadOffersOptions, signal: AbortSignal): Promise<void> {
  let isAnswered = false;
  try {
    for (const kind of ["plugin", "theme"] as const) {
      for (;;) {
        const files = await findToCheck(database, kind, together);
        if (files.length === 0) break;
        const offers = await source.newest(kind, files, signal);
        const rows = files.map((file) => rowOf(file, offers.get(file)));
        await noteOffers(database, kind, rows);
        isAnswered = true;
      }
    }
  } finally {
    if (isAnswered) {
      await markOffersVulnerable(database);
      await applyOffers(database, null);
    }
  }
}

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
