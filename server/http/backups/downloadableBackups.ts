import * as downloadableBackups from "@sitewright/server/app/backups/downloadableBackups.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const downloadableBackupHandlers: HandlersOf<"listDownloadableBackups" | "addDownloadableBackup"> = {
  listDownloadableBackups: async (context, { params }) => ({
    status: 200,
    body: { environment: await downloadableBackups.list(context, params.env_id) },
  }),
  addDownloadableBackup: async (context, { params, body }) =>
    accepted("addDownloadableBackup", await downloadableBackups.add(context, params.env_id, body)),
};
