/** Deleted sites: the list, and how restoring one starts. */
import type {
  EnvironmentToRestore,
  RestoreDeletedInput,
} from "@sitewright/server/operations/backups/restoreDeleted.ts";
import {
  type DeletedSiteFacts,
  deletedSiteForRestore,
  listDeletedSites,
  reinsertSite,
  siteExists,
} from "@sitewright/server/store/backups/deletedSites.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { removeSite } from "@sitewright/server/store/sites/sites.ts";
import { sitesInScope } from "../company/access.ts";
import { requireRoomFor } from "../company/limits.ts";
import type { Context } from "../context.ts";
import { NotFound, Refused } from "../failures.ts";
import { hostOf } from "../sites/addresses.ts";
import { refuseTakenSiteName } from "../sites/displayNames.ts";
import { maxNames } from "../sites/environmentName.ts";
import { regionOf } from "../sites/regions.ts";
import { numberedNames, slugOf } from "../sites/siteName.ts";
import { reinsertEnvironmentWithDomains, renameAdvice } from "./deletedEnvironments.ts";

/** Lists the company's deleted sites in the key's scope, newest first. */
export async function list(context: Context) {
  const sites = await listDeletedSites(context.pool, {
    companyId: context.caller.companyId,
    siteIds: sitesInScope(context.caller),
  });
  return sites.map(({ environments, ...site }) => ({
    ...site,
    region: regionOf(context.regions, site.region).id,
    environments: [...environments],
  }));
}

interface DeletedSiteIds {
  /** Company id. */
  readonly id: string;
  readonly site_id: string;
}

/** Claims the site's old names, or names derived from `displayName`, and starts the restore. Returns the operation's id. */
export function restore(context: Context, ids: DeletedSiteIds, displayName: string | null): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const site = await deletedSiteForRestore(transaction, ids.site_id);
    if (site === null || site.company_id !== ids.id.toLowerCase()) throw new NotFound();
    if (await siteExists(transaction, site.id)) {
      throw new Refused("being_brought_back", `The site ${site.display_name} is already being restored.`);
    }
    await requireRoomFor(context, transaction, { sites: 1, environments: site.environments.length });
    const environments = await insert(context, transaction, site, displayName);
    const environmentIds = environments.map(({ environment }) => environment.id);
    const { operationId, isRefused } = await context.acceptOperation(transaction, {
      kind: "restoreDeletedSite",
      companyId: site.company_id,
      siteId: site.id,
      environmentId: environmentIds[0] ?? null,
      locks: environmentIds,
      input: { siteId: site.id, isSite: true, environments } satisfies RestoreDeletedInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: { siteName: displayName ?? site.display_name },
    });
    // It will never run, so the names must be released here.
    if (isRefused) await removeSite(transaction, site.id);
    return operationId;
  });
}

/** Inserts the rows with their old names, or with the first free names derived from `wanted`. */
async function insert(
  context: Context,
  transaction: DatabaseTransaction,
  site: DeletedSiteFacts,
  wanted: string | null,
): Promise<EnvironmentToRestore[]> {
  const displayName = wanted ?? site.display_name;
  const names = wanted === null ? [site.name] : numberedNames(slugOf(wanted), 1, maxNames);
  for (const name of names) {
    const inserted = await insertUnder({ name, displayName }, context, transaction, site);
    if (inserted) return inserted;
  }
  const message = `Another site now has an address of the site ${site.display_name}.`;
  throw new Refused("site_name_taken", `${message} ${renameAdvice}`, { display_name: displayName });
}

/** Null if the name or an address derived from it is taken. Throws `Refused` if the display name is taken. */
async function insertUnder(
  names: { readonly name: string; readonly displayName: string },
  context: Context,
  transaction: DatabaseTransaction,
  site: DeletedSiteFacts,
): Promise<EnvironmentToRestore[] | null> {
  const { id: siteId, company_id: companyId } = site;
  if (!(await reinsertSite(transaction, siteId, names))) {
    await refuseTakenSiteName(transaction, companyId, names.displayName, renameAdvice);
    return null;
  }
  const toRestore: EnvironmentToRestore[] = [];
  for (const environment of site.environments) {
    const { name, display_name: displayName } = environment;
    const host = names.name === site.name ? environment.host : hostOf(context.settings, name, names.name);
    const restored = { siteId, companyId, name, displayName, host };
    const inserted = await reinsertEnvironmentWithDomains(context, transaction, environment, restored);
    if (inserted === null) {
      await removeSite(transaction, siteId);
      return null;
    }
    toRestore.push(inserted);
  }
  return toRestore;
}
