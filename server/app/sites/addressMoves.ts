/**
 * Addresses of sites contain the port and, without a custom domain, the installation's suffix. When these settings change, all
 * sites move to their new addresses: the names in the database at once, then each WordPress by an ordinary queued operation.
 */
import { randomUUID } from "node:crypto";
import type { ChangePrimaryDomainInput } from "@sitewright/server/operations/domains/changePrimaryDomain.ts";
import type { AcceptOperation } from "@sitewright/server/operations/engine/accept.ts";
import { systemActor } from "@sitewright/server/store/company/activity.ts";
import type { Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { domainsOfEnvironment } from "@sitewright/server/store/domains/domains.ts";
import type { EnvironmentFacts } from "@sitewright/server/store/sites/environmentStates.ts";
import {
  environmentsWithContent,
  renameTemporaryDomains,
  replaceSiteAddresses,
  type SiteAddresses,
} from "@sitewright/server/store/sites/siteAddresses.ts";
import { addressOf } from "./addresses.ts";
import { environmentInput } from "./environmentInput.ts";

interface AddressMoveOptions {
  readonly database: Database;
  readonly settings: SiteAddresses;
  readonly acceptOperation: AcceptOperation;
}

/** Starts the moves if the settings have changed since the last startup. Returns how many environments move. */
export function moveSites({ database, settings, acceptOperation }: AddressMoveOptions): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const before = await replaceSiteAddresses(transaction, settings);
    if (before === null) return 0;
    const environments = await environmentsWithContent(transaction);
    if (before.siteSuffix !== settings.siteSuffix) {
      await renameTemporaryDomains(transaction, before.siteSuffix, settings.siteSuffix);
    }
    let moving = 0;
    for (const environment of environments) {
      const input = await moveOf(transaction, environment, before, settings);
      if (input === null) continue;
      moving += 1;
      await acceptOperation(transaction, {
        kind: "changePrimaryDomain",
        companyId: environment.company_id,
        siteId: environment.site_id,
        environmentId: environment.id,
        locks: [environment.id],
        input,
        whenBusy: "queue",
        actor: systemActor,
        activityParameters: {
          domainName: input.domain.name,
          environmentName: environment.display_name,
          siteName: environment.site_display_name,
        },
      });
    }
    return moving;
  });
}

/** `environment` still has its old host. Null if the address stays the same. */
async function moveOf(
  transaction: DatabaseTransaction,
  environment: EnvironmentFacts,
  before: SiteAddresses,
  settings: SiteAddresses,
): Promise<ChangePrimaryDomainInput | null> {
  const primary = (await domainsOfEnvironment(transaction, environment.id)).find(({ isPrimary }) => isPrimary);
  if (primary === undefined) return null;
  const { id, name, isHttps } = primary;
  const address = addressOf(settings, { host: name, is_https: isHttps });
  const addressBefore = addressOf(before, environment);
  if (address === addressBefore) return null;
  const target = environmentInput(environment);
  const domain = { id, name, isHttps };
  return { token: randomUUID(), target, address, addressBefore, isEverywhere: true, domain, former: domain };
}
