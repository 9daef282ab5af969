/** Creates the first company of a new installation, and stores its credentials for the operator. */
import { ensureFirstCompany, type NewCompany, UnusableCompany } from "../app/company/companies.ts";
import { addressesOf, type FirstRun, refreshFirstRun, writeFirstRun } from "../firstRun.ts";
import type { Config } from "../settings/config.ts";
import type { Database } from "../store/database.ts";
import { CannotStart } from "../supervisedProcess.ts";

/**
 * Returns null if there is a company already. The credentials are on disk before the company is committed, so there is never a
 * company whose key is unknown.
 */
export async function prepareFirstRun(database: Database, config: Config): Promise<FirstRun | null> {
  const addresses = addressesOf(config);
  const storeFacts = (facts: NewCompany) => writeFirstRun(config.data, { ...addresses, ...facts });
  const company = await ensureFirstCompany(database, config.firstApiKey, storeFacts).catch((cause: unknown) => {
    throw cause instanceof UnusableCompany ? new CannotStart(cause.message, { cause }) : cause;
  });
  if (company) return { ...addresses, ...company };
  await refreshFirstRun(config.data, addresses);
  return null;
}
