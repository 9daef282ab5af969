/** Downloadable backups: an environment, or a backup, as one zip behind a link that expires. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { nullable, uuid } from "../schema.ts";

const moment = (description: string) =>
  Type.Number({ description: `Milliseconds since 1970: ${description}`, examples: [1795190400000] });

const DownloadableBackup = Type.Object(
  {
    id: uuid("Id of the downloadable backup."),
    created_at: moment("when it was asked for."),
    download_link: nullable(
      Type.String({
        description:
          "Opens in a browser, without a key, until it expires. Null while the zip is being made, and for keys that may only read.",
        examples: ["http://127.0.0.1:8080/v2/downloads/hK…w/demo-live-2026-11-22-214005.zip"],
      }),
    ),
    expires_at: moment("when the link ends and the zip is removed; later than that while it is being made."),
    is_generation_in_progress: Type.Boolean({ description: "Whether the zip is still being made." }),
  },
  { title: "DownloadableBackup" },
);

export const listDownloadableBackups = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/downloadable-backups",
  tag: "Backups",
  summary: "List the downloadable backups of an environment",
  description: "Those whose links are good, and those that are being made, the newest first.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  responses: {
    200: result(
      ["environment"],
      "The downloadable backups.",
      Type.Object({
        display_name: Type.String({ examples: ["Live"] }),
        downloadable_backups: Type.Array(DownloadableBackup),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const DownloadableBackupWish = Type.Object(
  {
    backup_id: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description:
          "A backup of any environment of the company: the zip has that state. Without it, the environment as it is now.",
        examples: [42],
      }),
    ),
  },
  { title: "DownloadableBackupWish" },
);

export const addDownloadableBackup = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/downloadable-backups",
  tag: "Backups",
  summary: "Make a downloadable backup",
  description:
    "Makes one zip of all files, with WordPress's own code, and of the database as SQL that any MySQL or MariaDB imports. The link is in the operation's `data.result`, and in the list. Nothing else that is done to the environment waits for it.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  body: DownloadableBackupWish,
  responses: { 202: { description: "The downloadable backup is being made.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  operation: "addDownloadableBackup",
});
