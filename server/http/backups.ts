import * as backups from "@sitewright/server/app/backups.ts";
import { accepted, type HandlersOf } from "./handling.ts";

export const backupHandlers: HandlersOf<"listBackups" | "addManualBackup" | "removeBackup" | "restoreBackup"> = {
  listBackups: async (context, { params }) => ({
    status: 200,
    body: { environment: await backups.list(context, params.env_id) },
  }),
  addManualBackup: async (context, { params, body }) =>
    accepted("addManualBackup", await backups.add(context, params.env_id, body)),
  removeBackup: async (context, { params }) =>
    accepted("removeBackup", await backups.remove(context, Number(params.backup_id))),
  restoreBackup: async (context, { params, body }) =>
    accepted("restoreBackup", await backups.restore(context, params.target_env_id, body)),
};
