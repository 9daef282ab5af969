/** The company that a new installation begins with, and the facts that its first start tells. */
import { ensureFirstCompany, type NewCompany, UnusableCompany } from "../app/company/companies.ts";
import { addressesOf, type FirstRun, refreshFirstRun, writeFirstRun } from "../firstRun.ts";
import { CannotStart } from "../part.ts";
import type { Config } from "../settings/config.ts";
import type { Database } from "../store/database.ts";

/**
 * Null if there is a company already. The facts are on disk before the company is committed: nobody is left with a company
 * that has no known key.
 */
export async function prepareFirstRun(database: Database, config: Config): Promise<FirstRun | null> {
  const addresses = addressesOf(config);
  const keepFacts = (facts: NewCompany) => writeFirstRun(config.data, { ...addresses, ...facts });
  const company = await ensureFirstCompany(database, config.firstApiKey, keepFacts).catch((cause: unknown) => {
    throw cause instanceof UnusableCompany ? new CannotStart(cause.message, { cause }) : cause;
  });
  if (company) return { ...addresses, ...company };
  await refreshFirstRun(config.data, addresses);
  return null;
}
