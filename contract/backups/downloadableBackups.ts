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
          "Opens in a browser without a key until it expires. Null while the zip is being made, and for read-only keys.",
        examples: ["http://127.0.0.1:8080/v2/downloads/hK…w/demo-live-2026-11-22-214005.zip"],
      }),
    ),
    expires_at: moment("when the link expires and the zip is deleted."),
    is_generation_in_progress: Type.Boolean({ description: "Whether the zip is still being made." }),
  },
  { title: "DownloadableBackup" },
);

export const listDownloadableBackups = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/downloadable-backups",
  tag: "Backups",
  summary: "List an environment's downloadable backups",
  description: "Those with valid links and those being made, newest first.",
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
          "The backup to download, of any environment of the company. Default: the environment as it is now.",
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
  summary: "Create a downloadable backup",
  description:
    "Creates one zip with all files, WordPress included, and the database as SQL for MySQL or MariaDB. The link is in the operation's `data.result` and in the list. Other operations on the environment do not wait for it.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  body: DownloadableBackupWish,
  responses: { 202: { description: "The downloadable backup is being made.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  operation: "addDownloadableBackup",
});
