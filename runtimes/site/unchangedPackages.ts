/** Finds environments whose plugins and themes need not be read again. */
import { environmentFolders } from "../folders.ts";
import { arePackagesUnchanged } from "../packageChanges.ts";
import { currentRelease, linkChangedAt, partOf } from "../releases.ts";
import type { ReadEnvironment } from "../runtime.ts";
import type { SiteContext } from "./context.ts";
import { recordOf } from "./release.ts";
import type { SiteDatabase } from "./siteDatabase.ts";

/** The clocks of the database, from which `readAt` is, and of the file system may differ. */
const clockMilliseconds = 60_000;

/** Implements `Runtime.unchangedPackages` for the environments in this folder. */
export async function unchangedPackages(
  wanted: readonly ReadEnvironment[],
  { environments, database }: SiteContext,
): Promise<ReadonlySet<string>> {
  const unchanged = new Set<string>();
  for (const environment of wanted) {
    // One that can't be examined is read.
    if (await isAsRead(environment, environments, database).catch(() => false)) unchanged.add(environment.id);
  }
  return unchanged;
}

async function isAsRead(environment: ReadEnvironment, environments: string, database: SiteDatabase): Promise<boolean> {
  const since = environment.readAt.getTime() - clockMilliseconds;
  const { live } = environmentFolders(environments, environment);
  const release = await currentRelease(live);
  if (release === null || linkChangedAt(live) >= since) return false;
  const [webRoot, folder] = await Promise.all([partOf(release, "public"), partOf(release, "database")]);
  const hasWordPress = recordOf(release).wordpressVersion !== null;
  return database.isUnchangedSince({ folder, hasWordPress }, since) && (await arePackagesUnchanged(webRoot, since));
}
