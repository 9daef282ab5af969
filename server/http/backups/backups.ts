import * as backups from "@sitewright/server/app/backups/backups.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const backupHandlers: HandlersOf<"listBackups" | "addManualBackup" | "removeBackup" | "restoreBackup"> = {
  listBackups: async (context, { params }) => {
    const list = await backups.list(context, params.env_id);
    const environment = { display_name: list.display_name, backups: [...list.backups] };
    return { status: 200, body: { environment }, basis: list };
  },
  addManualBackup: async (context, { params, body }) =>
    accepted("addManualBackup", await backups.add(context, params.env_id, body)),
  removeBackup: async (context, { params }) =>
    accepted("removeBackup", await backups.remove(context, Number(params.backup_id))),
  restoreBackup: async (context, { params, body }) =>
    accepted("restoreBackup", await backups.restore(context, params.target_env_id, body)),
};
