/** Finds environments whose plugins and themes need not be read again. */
import path from "node:path";
import { environmentFolders } from "../../../folders.ts";
import { arePackagesUnchanged, isUnchanged } from "../../../packageChanges.ts";
import { currentRelease, linkChangedAt, partOf } from "../../../releases.ts";
import type { ReadEnvironment } from "../../../runtime.ts";
import { mainDatabase, recordOf } from "../release.ts";

/** The clocks of the database, from which `readAt` is, and of the file system may differ. */
const clockMilliseconds = 60_000;

/** Implements `Runtime.unchangedPackages` for the environments in this folder. */
export async function unchangedPackages(
  wanted: readonly ReadEnvironment[],
  environments: string,
): Promise<ReadonlySet<string>> {
  const unchanged = new Set<string>();
  for (const environment of wanted) {
    // One that can't be examined is read.
    if (await isAsRead(environment, environments).catch(() => false)) unchanged.add(environment.id);
  }
  return unchanged;
}

async function isAsRead(environment: ReadEnvironment, environments: string): Promise<boolean> {
  const since = environment.readAt.getTime() - clockMilliseconds;
  const { live } = environmentFolders(environments, environment);
  const release = await currentRelease(live);
  if (release === null || linkChangedAt(live) >= since) return false;
  const [webRoot, databases] = await Promise.all([partOf(release, "public"), partOf(release, "database")]);
  const database = path.join(databases, mainDatabase(recordOf(release)));
  return isUnchanged(database, since) && (await arePackagesUnchanged(webRoot, since));
}
