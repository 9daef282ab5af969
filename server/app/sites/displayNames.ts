/** Display names are unique, ignoring case: of sites in a company, of environments in a site. */
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { isEnvironmentNameTaken } from "@sitewright/server/store/sites/environments.ts";
import { isDisplayNameTaken } from "@sitewright/server/store/sites/sites.ts";
import { Refused } from "../failures.ts";

/** Throws `Refused` if the company has a site with the display name. `advice` is appended to the message. */
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

/** Throws `Refused` if the site has an environment with the display name. `advice` is appended to the message. */
export async function refuseTakenEnvironmentName(
  transaction: DatabaseTransaction,
  siteId: string,
  displayName: string,
  advice = "",
): Promise<void> {
  if (!(await isEnvironmentNameTaken(transaction, siteId, displayName))) return;
  const message = `The site already has an environment with the name "${displayName}". ${advice}`.trimEnd();
  throw new Refused("environment_name_taken", message, { display_name: displayName });
}
