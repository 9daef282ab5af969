/** Backups of an environment: the list, and how making, removing and restoring them start. */
import { randomUUID } from "node:crypto";
import type { BackupRestore, ManualBackup } from "@sitewright/contract/backups/backups.ts";
import { deleteSite } from "@sitewright/contract/sites/sites.ts";
import type { AddManualBackupInput } from "@sitewright/server/operations/backups/addManualBackup.ts";
import type { CompareRestoreInput } from "@sitewright/server/operations/backups/compareRestore.ts";
import type { RemoveBackupInput } from "@sitewright/server/operations/backups/removeBackup.ts";
import type { RestoreBackupInput, SomeParts } from "@sitewright/server/operations/backups/restoreBackup.ts";
import type { BackupList } from "@sitewright/server/store/backups/backupList.ts";
import { type BackupFacts, backupForOperation } from "@sitewright/server/store/backups/backups.ts";
import { isUserOf } from "@sitewright/server/store/company/users.ts";
import type { Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Static } from "typebox";
import { hasRole, sitesInScope } from "../company/access.ts";
import type { Context } from "../context.ts";
import { NotAllowed, NotFound, Refused } from "../failures.ts";
import { unknownCursor } from "../lists.ts";
import { addressOf } from "../sites/addresses.ts";
import { environmentInput } from "../sites/environmentInput.ts";
import { requireInside } from "../sites/push.ts";
import { rebuildRequest } from "./rebuild.ts";

interface BackupQuery {
  readonly limit?: number;
  readonly offset?: number;
  /** The id of a backup of the list. */
  readonly after?: number;
}

/** Lists the backups. A long list that has not changed is the same object again, unless the query asks for a part of it. */
export async function list(context: Context, environmentId: string, query: BackupQuery): Promise<BackupList> {
  const found = await context.backupLists.list(environmentId);
  if (!found) throw new NotFound();
  const { limit = found.backups.length, offset = 0, after } = query;
  const start = after === undefined ? 0 : placeAfter(found, after);
  if (start + offset === 0 && limit >= found.backups.length) return found;
  return { ...found, backups: found.backups.slice(start + offset, start + offset + limit) };
}

function placeAfter({ backups }: BackupList, id: number): number {
  const place = backups.findIndex((backup) => backup.id === id);
  if (place === -1) throw unknownCursor("backup", String(id));
  return place + 1;
}

/** Starts the backup. Returns the operation's id. */
export function add(context: Context, environmentId: string, request: Static<typeof ManualBackup>): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await requireEnvironment(transaction, environmentId);
    const { id } = environment;
    const { operationId } = await context.acceptOperation(transaction, {
      kind: "addManualBackup",
      companyId: environment.company_id,
      siteId: environment.site_id,
      environmentId: id,
      locks: [id],
      input: {
        environment: environmentInput(environment),
        address: addressOf(context.settings, environment),
        note: request.tag === undefined || request.tag.trim() === "" ? null : request.tag,
      } satisfies AddManualBackupInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
    });
    return operationId;
  });
}

/** Starts the removal. Returns the operation's id. */
export function remove(context: Context, backupId: number): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const backup = await backupForOperation(transaction, backupId);
    if (!backup) throw new NotFound();
    requireRoleFor(context, backup);
    const { operationId } = await context.acceptOperation(transaction, {
      kind: "removeBackup",
      companyId: backup.company_id,
      siteId: backup.site_id,
      environmentId: backup.environment_id,
      locks: [backup.environment_id],
      input: { backupId } satisfies RemoveBackupInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: parametersOf(backup),
    });
    return operationId;
  });
}

/** Removing the last backup of a deleted site makes the deletion final, so it needs the role that deletes sites. */
function requireRoleFor({ caller }: Context, { is_of_deleted_site }: BackupFacts): void {
  if (is_of_deleted_site && !hasRole(caller, deleteSite.role)) throw new NotAllowed(`role:${deleteSite.role}`);
}

function parametersOf(backup: BackupFacts) {
  return {
    backupName: backup.name,
    environmentName: backup.environment_display_name,
    siteName: backup.site_display_name,
  };
}

/** Starts the restore. Returns the operation's id. */
export function restore(
  context: Context,
  environmentId: string,
  request: Static<typeof BackupRestore>,
): Promise<string> {
  const some = someParts(request);
  return context.inTransaction(async (transaction) => {
    const target = await requireEnvironment(transaction, environmentId);
    const backup = await requireBackup(context, transaction, request.backup_id);
    await checkUser(context, transaction, request.notified_user_id);
    if (target.awaits_rebuild) return rebuild(context, transaction, target, backup, request);
    const input = {
      backupId: backup.id,
      target: environmentInput(target),
      address: addressOf(context.settings, target),
      only: request.only ?? null,
      ...(some !== null && { some }),
    } satisfies CompareRestoreInput;
    const { operationId } = await context.acceptOperation(transaction, {
      kind: request.dry_run ? "compareRestore" : "restoreBackup",
      companyId: target.company_id,
      siteId: target.site_id,
      environmentId: target.id,
      // The environment that the backup was made of stays usable.
      locks: [target.id],
      input: request.dry_run
        ? input
        : ({
            ...input,
            token: randomUUID(),
            backupName: backup.name,
            withoutBackup: request.without_backup ?? false,
          } satisfies RestoreBackupInput),
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: {
        backupName: backup.name,
        environmentName: target.display_name,
        siteName: target.site_display_name,
      },
    });
    return operationId;
  });
}

/** The files and tables that are named, or null if there are none. */
function someParts({ only, file_list: files, tables }: Static<typeof BackupRestore>): SomeParts | null {
  if (files === undefined && tables === undefined) return null;
  if (only !== undefined) {
    throw new Refused("parts_contradict", "Leave out only, or file_list and tables.", { fields: ["only"] });
  }
  if (files !== undefined) requireInside(files);
  return { files: files ?? "none", database: tables ?? "none" };
}

/** Starts the restore of an environment whose content is not on this machine. */
async function rebuild(
  context: Context,
  transaction: DatabaseTransaction,
  target: EnvironmentFacts,
  backup: BackupFacts,
  { only, file_list: files, tables, dry_run: isDry }: Static<typeof BackupRestore>,
): Promise<string> {
  const away = "The environment has no content on this machine yet.";
  if (isDry) throw new Refused("environment_away", `${away} Leave out dry_run.`, { fields: ["dry_run"] });
  const [part] = Object.entries({ only, file_list: files, tables }).find(([, value]) => value !== undefined) ?? [];
  if (part !== undefined) {
    throw new Refused("environment_away", `${away} Restore the whole backup: leave out ${part}.`, { fields: [part] });
  }
  const { operationId } = await context.acceptOperation(transaction, {
    ...rebuildRequest(context.settings, target, backup.id),
    locks: [...new Set([target.id, backup.environment_id])],
    whenBusy: context.whenBusy,
    actor: context.actor,
  });
  return operationId;
}

async function requireEnvironment(transaction: DatabaseTransaction, id: string) {
  const environment = await environmentForOperation(transaction, id);
  if (!environment) throw new NotFound();
  return environment;
}

/** The backup, which must be one of the company. `field`: where the request has its id. */
export async function requireBackup(
  { caller }: Context,
  database: Database | DatabaseTransaction,
  id: number,
  field = "backup_id",
): Promise<BackupFacts> {
  const backup = await backupForOperation(database, id);
  const sites = sitesInScope(caller);
  const isSeen = backup?.company_id === caller.companyId && (sites === null || sites.includes(backup.site_id));
  if (backup && isSeen) return backup;
  throw new Refused("unknown_backup", `There is no backup with that ${field} in this company.`, { fields: [field] });
}

async function checkUser({ caller }: Context, transaction: DatabaseTransaction, userId: string | undefined) {
  if (userId === undefined || (await isUserOf(transaction, caller.companyId, userId))) return;
  throw new Refused("unknown_user", "notified_user_id is not a user of this company.", {
    fields: ["notified_user_id"],
  });
}
