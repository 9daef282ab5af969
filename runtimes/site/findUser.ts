/** Finds a user of a release's WordPress. */
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { removeTree } from "../folders.ts";
import { scratchFolder } from "../releaseMoves.ts";
import type { Release } from "../releases.ts";
import type { CompanyEnvironment, UserSearch } from "../runtime.ts";
import { databaseOf, recordOf, reportFullDisk } from "./release.ts";
import type { SiteDatabase } from "./siteDatabase.ts";

/** Implements `Runtime.findUser`. Null if there is no WordPress. `live` is the environment's folder. */
export async function findUser(
  of: CompanyEnvironment,
  release: Release,
  live: string,
  email: string,
  database: SiteDatabase,
): Promise<UserSearch | null> {
  const facts = recordOf(release);
  if (facts.wordpressVersion === null) return null;
  const own = await databaseOf(of, release);
  const folder = scratchFolder(live, randomUUID());
  await mkdir(folder, { mode: 0o700 });
  try {
    return { user: await reportFullDisk(() => database.findUser(own, email, folder)) };
  } finally {
    await removeTree(folder);
  }
}
