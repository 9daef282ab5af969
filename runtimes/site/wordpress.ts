/** Reads facts about the WordPress of a release. */
import { mkdir } from "node:fs/promises";
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
  return withScratch(live, async (folder) => {
    await mkdir(folder, { mode: 0o700 });
    return { ...(await database.readFacts(own, folder)), multisite: facts.multisite };
  });
}
