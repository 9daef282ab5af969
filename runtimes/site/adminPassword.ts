/**
 * Sets the password of a WordPress's first administrator. A bcrypt hash takes a tenth of a second, which should not
 * delay a new site: its database starts without a password, and gets it while visitors are already served.
 */

import { environmentFolders } from "../folders.ts";
import { requireRelease } from "../releases.ts";
import type { EnvironmentRef } from "../runtime.ts";
import type { SiteContext } from "./context.ts";
import { databaseOf, recordOf, reportFullDisk } from "./release.ts";
import { hashPassword } from "./values/passwordHash.ts";

/** Implements `Runtime.setAdminPassword`. Does nothing if there is a password, or no WordPress. */
export async function setAdminPassword(
  environment: EnvironmentRef,
  digest: string,
  { environments, database }: Pick<SiteContext, "environments" | "database">,
): Promise<void> {
  const release = await requireRelease(environmentFolders(environments, environment).live);
  if (recordOf(release).wordpressVersion === null) return;
  const passwordHash = await hashPassword(digest);
  const own = await databaseOf(environment, release);
  await reportFullDisk(() => database.setPassword(own, passwordHash));
}
