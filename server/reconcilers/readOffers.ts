/** Asks the package source what is new, for everything that is installed anywhere: one question for a hundred plugins, whoever has them. */
import { applyOffers } from "../packages/applyOffers.ts";
import type { Offer, PackageSource } from "../packages/source.ts";
import { versionKey } from "../packages/versions.ts";
import type { Database } from "../store/database.ts";
import { markOffersVulnerable } from "../store/packages/advisories.ts";
import { noteSourceCheck } from "../store/packages/packageChecks.ts";
import { findDueForCheck, type NewOffer, noteOffers } from "../store/packages/packageOffers.ts";

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

/** Asks about everything that is due, and records the outcome. Answers from before a failure count. */
export async function readOffers(options: ReadOffersOptions, signal: AbortSignal): Promise<void> {
  try {
    await readDueOffers(options, signal);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (!signal.aborted) await noteSourceCheck(options.database, reason);
    throw error;
  }
  await noteSourceCheck(options.database, null);
}

async function readDueOffers({ database, source }: ReadOffersOptions, signal: AbortSignal): Promise<void> {
  let isAnswered = false;
  try {
    for (const kind of ["plugin", "theme"] as const) {
      for (;;) {
        const files = await findDueForCheck(database, kind, together);
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
