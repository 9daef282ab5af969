/** Downloadable backups: the list, how making one starts, and their links. */
import { randomUUID } from "node:crypto";
import type { DownloadableBackupCreate } from "@sitewright/contract/backups/downloadableBackups.ts";
import type { AddDownloadableBackupInput } from "@sitewright/server/operations/backups/addDownloadableBackup.ts";
import {
  findDownloadableBackup,
  insertDownloadableBackup,
  listDownloadableBackups,
} from "@sitewright/server/store/backups/downloadableBackups.ts";
import { systemActor } from "@sitewright/server/store/company/activity.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Static } from "typebox";
import { canWrite } from "../company/access.ts";
import type { App, Context, OpenDownload } from "../context.ts";
import { NotFound } from "../failures.ts";
import { addressOf } from "../sites/addresses.ts";
import { environmentInput } from "../sites/environmentInput.ts";
import { requireBackup } from "./backups.ts";

const hour = 3_600_000;

/** `2026-11-22-214005`, in UTC: the time of the content, so that different contents have different names. */
function timestampOf(time: Date): string {
  return time.toISOString().slice(0, 19).replace("T", "-").replaceAll(":", "");
}

export async function list(context: Context, environmentId: string) {
  const found = await listDownloadableBackups(context.pool, environmentId);
  if (!found) throw new NotFound();
  return {
    display_name: found.display_name,
    downloadable_backups: found.backups.map(({ file_name, ...backup }) => ({
      ...backup,
      download_link: backup.is_generation_in_progress ? null : linkTo(context, backup.id, file_name),
    })),
  };
}

/** Null for read-only callers: a backup contains secrets, such as password hashes, that they can't see anywhere else. */
function linkTo(context: Context, id: string, fileName: string): string | null {
  if (!canWrite(context.caller)) return null;
  return `${context.origin}/v2/downloads/${context.downloadTokens.tokenOf(id)}/${fileName}`;
}

/** Returns the result of the operation, with the download link for callers that may have it. */
export function withLink(context: Context, result: unknown): unknown {
  if (typeof result !== "object" || result === null || !("id" in result) || !("file_name" in result)) return null;
  const { id, file_name, ...rest } = result;
  return { id, ...rest, download_link: linkTo(context, String(id), String(file_name)) };
}

/** Starts making a downloadable backup. Returns the operation's id. */
export function add(
  context: Context,
  environmentId: string,
  request: Static<typeof DownloadableBackupCreate>,
): Promise<string> {
  return context.inTransaction(async (transaction) => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (!environment) throw new NotFound();
    const backup =
      request.backup_id === undefined ? null : await requireBackup(context, transaction, request.backup_id);
    const { id: envId, company_id: companyId, site_id: siteId } = environment;
    const row = { id: randomUUID(), companyId, siteId, environmentId: envId };
    const fileName = `${environment.site_name}-${environment.name}-${timestampOf(backup?.created_at ?? new Date())}.zip`;
    const expiresAt = new Date(Date.now() + context.downloadHours * hour);
    await insertDownloadableBackup(transaction, { ...row, fileName, expiresAt });
    const { operationId } = await context.acceptOperation(transaction, {
      kind: "addDownloadableBackup",
      companyId,
      siteId,
      environmentId: envId,
      // It reads a snapshot, so other operations need not wait.
      locks: [],
      input: {
        id: row.id,
        environment: environmentInput(environment),
        address: addressOf(context.settings, environment),
        environmentName: `${environment.site_display_name}, ${environment.display_name}`,
        backup: backup && { id: backup.id, name: backup.name },
      } satisfies AddDownloadableBackupInput,
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: { environmentName: environment.display_name, siteName: environment.site_display_name },
    });
    return operationId;
  });
}

export interface FoundDownload extends OpenDownload {
  readonly id: string;
  readonly companyId: string;
  readonly siteId: string;
  readonly fileName: string;
  readonly createdAt: Date;
}

/** Opens the file that a link points to. Throws `NotFound` if the link is invalid or has expired. */
export async function follow(
  { database, downloadTokens, openDownload }: Pick<App, "database" | "downloadTokens" | "openDownload">,
  link: { readonly token: string; readonly name: string },
): Promise<FoundDownload> {
  const id = downloadTokens.idOf(link.token);
  const row = id === null ? null : await findDownloadableBackup(database, id);
  if (row?.bytes == null || row.fileName !== link.name || row.expiresAt.getTime() <= Date.now()) throw new NotFound();
  const opened = await openDownload(row.id);
  if (opened === null) throw new NotFound();
  const { companyId, siteId, fileName, createdAt } = row;
  return { ...opened, id: row.id, companyId, siteId, fileName, createdAt };
}

/** Notes the download for the activity log. A resumed download counts again. */
export function noteDownload(
  { repeatedActivity }: Pick<App, "repeatedActivity">,
  { companyId, siteId, fileName }: FoundDownload,
  ipAddress: string,
): void {
  const common = { companyId, siteId, category: "siteActions", type: "downloadBackup" } as const;
  repeatedActivity.note({
    ...common,
    parameters: { fileName },
    actor: { ...systemActor, ipAddress },
    publicError: null,
  });
}
