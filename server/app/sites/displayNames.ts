/** Display names must be unique, ignoring case. */
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { isEnvironmentNameTaken } from "@sitewright/server/store/sites/environments.ts";
import { isDisplayNameTaken } from "@sitewright/server/store/sites/sites.ts";
import { Refused } from "../failures.ts";

/** `advice` says what to do instead, where the caller may not know. */
export async function refuseTakenSiteName(
  transaction: DatabaseTransaction,
  companyId: string,
  displayName: string,
  advice = "",
): Promise<void> {
  if (!(await isDisplayNameTaken(transaction, companyId, displayName))) return;
  const message = `A site with the name "${displayName}" already exists. ${advice}`.trimEnd();
  throw new Refused("site_name_taken", message, { display_name: displayName });
}

export async function refuseTakenEnvironmentName(
  transaction: DatabaseTransaction,
  siteId: string,
  displayName: string,
  advice = "",
): Promise<void> {
  if (!(await isEnvironmentNameTaken(transaction, siteId, displayName))) return;
  const message = `The site has an environment with the name "${displayName}" already. ${advice}`.trimEnd();
  throw new Refused("environment_name_taken", message, { display_name: displayName });
}
