/** Asks the package source for newer versions of all installed plugins and themes, a hundred per request. */
import { applyOffers } from "../packages/applyOffers.ts";
import type { Offer, PackageSource } from "../packages/source.ts";
import { versionKey } from "../packages/versions.ts";
import type { Database } from "../store/database.ts";
import { markOffersVulnerable } from "../store/packages/advisories.ts";
import { clearSourceProblem, noteSourceCheck } from "../store/packages/packageChecks.ts";
import { findDueForCheck, type NewOffer, noteOffers } from "../store/packages/packageOffers.ts";

interface CheckForUpdatesOptions {
  readonly database: Database;
  readonly source: Pick<PackageSource, "newest">;
}

const packagesPerRequest = 100;

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

/** Checks everything that is due and records the outcome. Results received before a failure are kept. */
export async function checkForUpdates(options: CheckForUpdatesOptions, signal: AbortSignal): Promise<void> {
  try {
    const hasAsked = await checkDuePackages(options, signal);
    await (hasAsked ? noteSourceCheck(options.database, null) : clearSourceProblem(options.database));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (!signal.aborted) await noteSourceCheck(options.database, reason);
    throw error;
  }
}

/** Returns false if nothing was due. */
async function checkDuePackages({ database, source }: CheckForUpdatesOptions, signal: AbortSignal): Promise<boolean> {
  let hasNewOffers = false;
  try {
    for (const kind of ["plugin", "theme"] as const) {
      for (;;) {
        const files = await findDueForCheck(database, kind, packagesPerRequest);
        if (files.length === 0) break;
        const offers = await source.newest(kind, files, signal);
        const rows = files.map((file) => rowOf(file, offers.get(file)));
        await noteOffers(database, kind, rows);
        hasNewOffers = true;
      }
    }
  } finally {
    if (hasNewOffers) {
      await markOffersVulnerable(database);
      await applyOffers(database, null);
    }
  }
  return hasNewOffers;
}
