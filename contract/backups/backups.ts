/** Backups of an environment: what there is, making one, removing one, and going back to one. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { nullable, pattern, uuid } from "../schema.ts";

const backupId = Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "Id of the backup.", examples: [42] });
export const moment = (description: string) =>
  Type.Number({ description: `Milliseconds since 1970: ${description}`, examples: [1795190400000] });

const Backup = Type.Object(
  {
    id: backupId,
    name: Type.String({ examples: ["Before a push from Staging"] }),
    note: nullable(Type.String({ description: "The tag given by the user.", examples: ["Before the summer sale"] })),
    type: Type.Enum(["manual", "scheduled", "system-generated"], {
      description:
        "`manual`: requested by a user; `scheduled`: made on schedule; `system-generated`: made before a risky change.",
    }),
    created_at: moment("when it was made."),
    verified_at: moment(
      "when all its data was last read from the archives and found intact (the time of the part that was read longest ago).",
    ),
    expires_at: moment("when it is deleted, unless it is the newest backup of the environment."),
    last_proven_restore: nullable(
      moment("of the last successful test restore, with all pages and rows. Null if there has been none."),
    ),
    proof_error: nullable(
      Type.String({
        description: "What was wrong in the last test restore. Null if nothing was, or there has been none.",
        examples: ["The table wp_posts had 5 rows when it was backed up, and had 3 rows when it was restored."],
      }),
    ),
    damage: nullable(
      Type.String({
        description:
          "Data of this backup that is missing or damaged in the archives, or null. Such a backup can still be tried: the restore then names what can't be restored and changes nothing.",
        examples: [
          "This backup can't be restored: what it needs for wp-content/uploads/2026/11/harbour.jpg is missing or damaged.",
        ],
      }),
    ),
    size_bytes: Type.Integer({ description: "Size on disk after a restore.", examples: [104857600] }),
  },
  { title: "Backup" },
);

export const listBackups = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/backups",
  tag: "Backups",
  summary: "List an environment's backups",
  description:
    "All finished backups, newest first. `damage` and `proof_error` tell which of them are known to be incomplete.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  responses: {
    200: {
      description: "The backups.",
      body: Type.Object({
        environment: Type.Object({
          display_name: Type.String({ examples: ["Live"] }),
          backups: Type.Array(Backup),
        }),
      }),
    },
  },
  verb: "read",
  resource: { kind: "environment", from: "params.env_id" },
});

export const ManualBackup = Type.Object(
  {
    tag: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: pattern(
          "^[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029]*$",
          "must be one line of text, without control characters",
        ),
        default: "",
        description: "A note for yourself.",
        examples: ["Before the summer sale"],
      }),
    ),
  },
  { title: "ManualBackup" },
);

export const addManualBackup = endpoint({
  method: "POST",
  path: "/sites/environments/{env_id}/manual-backups",
  tag: "Backups",
  summary: "Back an environment up",
  description:
    "Backs up files and database while the environment keeps serving visitors. The database is a consistent snapshot. Files are copied within a short time; a file that is being written at that moment is copied as it is. The backup is listed once all its data is in the archives; `verified_at` is when the data was read back.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  body: ManualBackup,
  responses: { 202: { description: "The environment is being backed up.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "params.env_id" },
  operation: "addManualBackup",
});

export const removeBackup = endpoint({
  method: "DELETE",
  path: "/sites/environments/backups/{backup_id}",
  tag: "Backups",
  summary: "Delete a backup",
  description:
    "Data shared with other backups stays in the archives. Deleting the backup of a deleted site needs the permission to delete sites, because without a backup the site can't be restored.",
  params: Type.Object({
    backup_id: Type.String({
      pattern: pattern("^[1-9][0-9]{0,9}$", "must be the id of a backup, a whole number"),
      description: "Id of the backup.",
      examples: ["42"],
    }),
  }),
  responses: { 202: { description: "The backup is being deleted.", body: Accepted } },
  verb: "delete",
  resource: { kind: "backup", from: "params.backup_id" },
  changesLive: true,
  operation: "removeBackup",
});

export const BackupRestore = Type.Object(
  {
    backup_id: backupId,
    notified_user_id: Type.Optional(
      uuid(
        "A user of the company. No notification is sent yet; see the activity log or the operation for the outcome.",
      ),
    ),
    only: Type.Optional(
      Type.Enum(["files", "database"], {
        description: "Restores only this part and leaves the other as it is. Default: both.",
      }),
    ),
    without_backup: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Restores even if the environment can't be backed up: its current state is lost.",
      }),
    ),
  },
  { title: "BackupRestore" },
);

export const restoreBackup = endpoint({
  method: "POST",
  path: "/sites/environments/{target_env_id}/backups/restore",
  tag: "Backups",
  summary: "Restore a backup",
  description:
    "Puts a backup of any environment of the company in the place of what the environment is now. It is built beside it and tried out while the environment is backed up; then visitors are moved to it at once. If anything fails, the environment stays as it was; where it can't be backed up, because it is broken or the archives take nothing, the operation's reason says so, and `without_backup` restores all the same. What answers with an error is not put there; a site that was closed for maintenance (503, without an error of PHP's) is. Only the target is blocked meanwhile; a backup that is removed while it is being restored ends the restore. An environment that is still to be brought back after the installation was moved is made of this backup.",
  params: Type.Object({ target_env_id: uuid("Id of the environment to restore to.") }),
  body: BackupRestore,
  responses: { 202: { description: "The backup is being restored.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "params.target_env_id" },
  changesLive: true,
  operation: "restoreBackup",
});
