/** Downloadable backups: an environment or a backup as one zip, with a link that expires. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { milliseconds, nullable, uuid } from "../schema.ts";

const DownloadableBackup = Type.Object(
  {
    id: uuid("Id of the downloadable backup."),
    created_at: milliseconds("When it was requested."),
    download_link: nullable(
      Type.String({
        description:
          "Link to the zip. Opens in a browser, without an API key, until it expires. Null while the zip is being created, and for read-only keys.",
        examples: ["http://127.0.0.1:8080/v2/downloads/hK…w/demo-live-2026-11-22-214005.zip"],
      }),
    ),
    expires_at: milliseconds("When the link expires and the zip is deleted.", 1_795_449_600_000),
    is_generation_in_progress: Type.Boolean({ description: "Whether the zip is still being created." }),
  },
  { title: "DownloadableBackup" },
);

export const listDownloadableBackups = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/downloadable-backups",
  tag: "Backups",
  summary: "List an environment's downloadable backups",
  description: "Lists finished backups that can be downloaded, and those in progress, newest first.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  responses: {
    200: result(
      ["environment"],
      "The downloadable backups.",
      Type.Object({
        display_name: Type.String({ description: "Display name of the environment.", examples: ["Live"] }),
        downloadable_backups: Type.Array(DownloadableBackup),
      }),
    ),
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const DownloadableBackupCreate = Type.Object(
  {
    backup_id: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description:
          "Id of the backup to download, of any environment of the company. Default: the current state of the environment.",
        examples: [42],
      }),
    ),
  },
  { title: "DownloadableBackupCreate" },
);

export const addDownloadableBackup = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/downloadable-backups",
  tag: "Backups",
  summary: "Create a downloadable backup",
  description:
    "Creates one zip with all files, including WordPress, and the database as SQL for MySQL or MariaDB. The link is in the operation's `data.result` and in the list. Other operations on the environment do not wait for it.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  body: DownloadableBackupCreate,
  responses: { 202: { description: "The downloadable backup is being created.", body: Accepted } },
  refusals: ["unknown_backup"],
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  operation: "addDownloadableBackup",
});
