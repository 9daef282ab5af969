/** Reads facts about the WordPress of a release. */
import type { Release } from "../releases.ts";
import type { EnvironmentRef, WordPressFacts } from "../runtime.ts";
import { databaseOf, recordOf } from "./release.ts";
import type { SiteDatabase } from "./siteDatabase.ts";
import { withScratch } from "./withScratch.ts";

/**
 * Returns the facts, or null if there is no WordPress. Reads a copy of the database, so that the original is only
 * opened for reading and writers don't wait. `live` is the environment's folder.
 */
export async function wordpressOf(
  of: EnvironmentRef,
  release: Release,
  live: string,
  database: SiteDatabase,
): Promise<WordPressFacts | null> {
  const facts = recordOf(release);
  if (facts.wordpressVersion === null) return null;
  const own = await databaseOf(of, release);
  const stored = await withScratch(live, (folder) => database.readFacts(own, folder));
  return { ...stored, multisite: facts.multisite };
}
