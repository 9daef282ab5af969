/** Finds a user of a release's WordPress. */
import type { Release } from "../releases.ts";
import type { EnvironmentRef, UserSearch } from "../runtime.ts";
import { databaseOf, recordOf } from "./release.ts";
import type { SiteDatabase } from "./siteDatabase.ts";
import { withScratch } from "./withScratch.ts";

/** Implements `Runtime.findUser`. Null if there is no WordPress. `live` is the environment's folder. */
export async function findUser(
  of: EnvironmentRef,
  release: Release,
  live: string,
  email: string,
  database: SiteDatabase,
): Promise<UserSearch | null> {
  const facts = recordOf(release);
  if (facts.wordpressVersion === null) return null;
  const own = await databaseOf(of, release);
  return withScratch(live, async (folder) => ({ user: await database.findUser(own, email, folder) }));
}
