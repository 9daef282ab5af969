/** Deleted environments of a site: the list, and how restoring one starts. */
import type {
  EnvironmentToRestore,
  RestoreDeletedInput,
} from "@sitewright/server/operations/backups/restoreDeleted.ts";
import {
  type DeletedEnvironmentFacts,
  deletedEnvironmentForRestore,
  listDeletedEnvironments,
  reinsertEnvironment,
} from "@sitewright/server/store/backups/deletedEnvironments.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { insertPrimaryDomain, isDomainNameTaken } from "@sitewright/server/store/domains/domains.ts";
import { environmentExists, removeEnvironmentRows } from "@sitewright/server/store/sites/environments.ts";
import { siteForAddition } from "@sitewright/server/store/sites/sites.ts";
import { requireRoomFor } from "../company/limits.ts";
import type { Context } from "../context.ts";
import { reinsertDomains } from "../domains/deletedDomains.ts";
import { NotFound, Refused } from "../failures.ts";
import { addressOf, hostOf } from "../sites/addresses.ts";
import { refuseTakenEnvironmentName } from "../sites/displayNames.ts";
import { environmentNames } from "../sites/environmentName.ts";

export const renameAdvice = "Restore it with another display_name.";

/** Lists environments that were deleted without their site, newest first. */
export async function list(context: Context, siteId: string) {
  return [...(await listDeletedEnvironments(context.pool, siteId))];
}

interface DeletedEnvironmentIds {
  readonly site_id: string;
  readonly env_id: string;
}

/** Claims the environment's old name, or one derived from `displayName`, and starts the restore. Returns the operation's id. */
export function restore(context: Context, ids: DeletedEnvironmentIds, displayName: string | null): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const site = await requireSite(transaction, ids.site_id);
    const environment = await deletedEnvironmentForRestore(transaction, site.id, ids.env_id);
    if (environment === null) throw new NotFound();
    const { id, display_name: oldName } = environment;
    if (await environmentExists(transaction, id)) {
      throw new Refused("being_brought_back", `The environment ${oldName} is already being restored.`);
    }
    const toRestore = await insert(context, transaction, site, environment, displayName);
    const { operationId, isRefused } = await context.acceptOperation(transaction, {
      kind: "restoreDeletedEnvironment",
      companyId: context.caller.companyId,
      siteId: site.id,
      environmentId: id,
      locks: [id],
      input: { siteId: site.id, isSite: false, environments: [toRestore] } satisfies RestoreDeletedInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: { environmentName: displayName ?? oldName, siteName: site.display_name },
    });
    // It will never run, so the name must be released here.
    if (isRefused) await removeEnvironmentRows(transaction, id);
    return operationId;
  });
}

interface Site {
  readonly id: string;
  readonly name: string;
  readonly display_name: string;
}

async function requireSite(transaction: DatabaseTransaction, siteId: string): Promise<Site> {
  const site = await siteForAddition(transaction, siteId);
  if (!site) throw new NotFound();
  if (site.isEnding) throw new Refused("site_being_deleted", `The site ${site.display_name} is being deleted.`);
  return site;
}

/** Inserts the rows with their old names, or with the first free names derived from `wanted`. */
async function insert(
  context: Context,
  transaction: DatabaseTransaction,
  site: Site,
  environment: DeletedEnvironmentFacts,
  wanted: string | null,
): Promise<EnvironmentToRestore> {
  const displayName = wanted ?? environment.display_name;
  const ids = { siteId: site.id, companyId: context.caller.companyId };
  await requireRoomFor(context, transaction, { environments: 1 });
  await refuseTakenEnvironmentName(transaction, site.id, displayName, renameAdvice);
  for (const name of wanted === null ? [environment.name] : environmentNames(wanted)) {
    const host = wanted === null ? environment.host : hostOf(context.settings, name, site.name);
    const inserted = await reinsertEnvironmentWithDomains(context, transaction, environment, {
      ...ids,
      name,
      displayName,
      host,
    });
    if (inserted) return inserted;
    await removeEnvironmentRows(transaction, environment.id);
  }
  const message = `Another environment now has the name or the address of the environment ${environment.display_name}.`;
  throw new Refused("environment_name_taken", `${message} ${renameAdvice}`, { display_name: displayName });
}

interface RestoredNames {
  readonly siteId: string;
  readonly companyId: string;
  readonly name: string;
  readonly displayName: string;
  readonly host: string;
}

/** Inserts the rows of a deleted environment. Null if its name or host is taken; the caller then removes inserted rows. */
export async function reinsertEnvironmentWithDomains(
  context: Context,
  transaction: DatabaseTransaction,
  { id, domain_id, is_wildcard, backup_id, domains }: DeletedEnvironmentFacts,
  { siteId, companyId, host, ...names }: RestoredNames,
): Promise<EnvironmentToRestore | null> {
  if (await isDomainNameTaken(transaction, host)) return null;
  const number = await reinsertEnvironment(transaction, id, names);
  if (number === null) return null;
  const domain = { id: domain_id, environmentId: id, siteId, companyId, name: host, isWildcard: is_wildcard };
  if (!(await insertPrimaryDomain(transaction, domain))) return null;
  const { primary, leftOut } = await reinsertDomains(transaction, domain, domains);
  const address = addressOf(context.settings, primary ?? { host, is_https: false });
  return { environment: { id, number, companyId }, address, backupId: backup_id, leftOut };
}
