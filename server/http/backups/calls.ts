import * as backupComparison from "@sitewright/server/app/backups/backupComparison.ts";
import * as backups from "@sitewright/server/app/backups/backups.ts";
import * as deletedEnvironments from "@sitewright/server/app/backups/deletedEnvironments.ts";
import * as deletedSites from "@sitewright/server/app/backups/deletedSites.ts";
import * as downloadableBackups from "@sitewright/server/app/backups/downloadableBackups.ts";
import type { SomeCalls, SomeResponseHandlers } from "../handling.ts";

export const backupCalls = {
  addManualBackup: (context, { params, body }) => backups.add(context, params.env_id, body),
  removeBackup: (context, { params }) => backups.remove(context, Number(params.backup_id)),
  compareBackups: (context, { params, query }) =>
    backupComparison.compare(context, Number(params.backup_id), Number(query.with)),
  restoreBackup: (context, { params, body }) => backups.restore(context, params.target_env_id, body),

  listDownloadableBackups: (context, { params }) => downloadableBackups.list(context, params.env_id),
  addDownloadableBackup: (context, { params, body }) => downloadableBackups.add(context, params.env_id, body),

  listDeletedSites: (context) => deletedSites.list(context),
  restoreDeletedSite: (context, { params, body }) => deletedSites.restore(context, params, body.display_name ?? null),
  listDeletedEnvironments: (context, { params }) => deletedEnvironments.list(context, params.site_id),
  restoreDeletedEnvironment: (context, { params, body }) =>
    deletedEnvironments.restore(context, params, body.display_name ?? null),
} satisfies SomeCalls;

export const backupResponseHandlers = {
  listBackups: async (context, { params, query }) => {
    const list = await backups.list(context, params.env_id, query);
    const environment = { display_name: list.display_name, backups: [...list.backups] };
    return { status: 200, body: { environment }, cacheKey: list };
  },
} satisfies SomeResponseHandlers;
