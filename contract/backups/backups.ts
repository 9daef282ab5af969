/** Backups of environments: list, create, delete and restore. */
import { Type } from "typebox";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { limit, milliseconds, nullable, offset, pattern, uuid } from "../schema.ts";

const backupId = Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "Id of the backup.", examples: [42] });

const Backup = Type.Object(
  {
    id: backupId,
    name: Type.String({ description: "Name to show to people.", examples: ["Before a push from Staging"] }),
    note: nullable(
      Type.String({ description: "The `tag` of a manual backup, or null.", examples: ["Before the summer sale"] }),
    ),
    type: Type.Enum(["manual", "scheduled", "system-generated"], {
      description:
        "`manual`: requested by a user. `scheduled`: made on schedule. `system-generated`: made before a risky change.",
    }),
    created_at: milliseconds("When it was made."),
    verified_at: milliseconds(
      "When all its data was last read from the archives and found intact. If parts were read at different times, the earliest one: a backup shares unchanged data with earlier backups, so the time may be before `created_at`.",
    ),
    expires_at: milliseconds(
      "When it will be deleted, unless it is the newest backup of the environment.",
      1_796_400_000_000,
    ),
    last_proven_restore: nullable(
      milliseconds("When it last passed a test restore, with all pages and rows; null if never."),
    ),
    proof_error: nullable(
      Type.String({
        description: "What was wrong in the last test restore. Null if nothing was wrong, or if there has been none.",
        examples: [null, "The table wp_posts had 5 rows when it was backed up, and had 3 rows when it was restored."],
      }),
    ),
    damage: nullable(
      Type.String({
        description:
          "Which data of this backup is missing or damaged in the archives, or null. You can still try to restore such a backup: the restore fails without changing anything and says what can't be restored.",
        examples: [
          null,
          "This backup can't be restored: what it needs for wp-content/uploads/2026/11/harbour.jpg is missing or damaged.",
        ],
      }),
    ),
    size_bytes: Type.Integer({ description: "Size on disk after a restore, in bytes.", examples: [104857600] }),
  },
  { title: "Backup" },
);

export const listBackups = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/backups",
  tag: "Backups",
  summary: "List an environment's backups",
  description:
    "Lists all finished backups, newest first. `damage` and `proof_error` show which of them are known to be incomplete.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  query: Type.Object({
    limit: limit("Maximum number of backups. Default: all."),
    offset,
    after: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description:
          "Only backups older than the backup with this id. Unlike `offset`, it skips and repeats nothing if backups are added or removed meanwhile.",
        examples: [17],
      }),
    ),
  }),
  responses: {
    200: {
      description: "The backups.",
      body: Type.Object({
        environment: Type.Object({
          display_name: Type.String({ description: "Display name of the environment.", examples: ["Live"] }),
          backups: Type.Array(Backup),
        }),
      }),
    },
  },
  refusals: ["unknown_cursor"],
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
          "must be one line of text without control characters",
        ),
        default: "",
        description: "A note, shown as `note` in the list. Up to 200 characters.",
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
  summary: "Back up an environment",
  description:
    "Backs up files and database while the environment keeps serving visitors. The database is a consistent snapshot. Files are copied one after another; a file that is being written at that moment is copied as it is. The backup is listed once all its data is in the archives and has been read back (`verified_at`). `data.result` is `{backup_id}`.",
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
    "Deletes the backup; data shared with other backups stays in the archives. Deleting a backup of a deleted site needs the permission to delete sites, because a site without a backup can't be restored.",
  params: Type.Object({
    backup_id: Type.String({
      pattern: pattern("^[1-9][0-9]{0,9}$", "must be the id of a backup, a positive whole number"),
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
        description: "Restore only this part and leave the other one unchanged. Default: restore both.",
      }),
    ),
    file_list: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
        minItems: 1,
        maxItems: 10_000,
        description:
          "Restore only these files and folders, and the `tables` if there are any: paths relative to the site's root. Folders are replaced completely. Not together with `only`.",
        examples: [["wp-content/themes/garden"]],
      }),
    ),
    tables: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: 1_000,
        description:
          "Restore only these tables, and the files of `file_list` if there are any. Not together with `only`.",
        examples: [["wp_posts", "wp_postmeta"]],
      }),
    ),
    without_backup: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Restore even if the current state can't be backed up first. The current state is then lost.",
      }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Change nothing. The operation's result lists the files that a restore would change, and the rows that would be lost.",
      }),
    ),
  },
  { title: "BackupRestore", examples: [{ backup_id: 42 }] },
);

export const restoreBackup = endpoint({
  method: "POST",
  path: "/sites/environments/{target_env_id}/backups/restore",
  tag: "Backups",
  summary: "Restore a backup",
  description:
    "Replaces the environment with a backup of any environment of the company. The backup is restored next to the current site and tested while the current site is backed up; then it is switched live at once. If anything fails, the environment stays as it was. If the current site can't be backed up, because it is broken or the archives can't be written to, the operation fails and says so; `without_backup` restores anyway. A restored site that answers with an error is not switched live, unless it is in maintenance mode (503 without a PHP error). Other operations on the target have to wait; other environments are not affected. If the backup is deleted during the restore, the restore fails. An environment that is waiting to be restored after a move of the installation is restored from this backup. With `dry_run`, the backup is fetched and compared with the environment.",
  params: Type.Object({ target_env_id: uuid("Id of the environment to restore to.") }),
  body: BackupRestore,
  responses: { 202: { description: "The backup is being restored.", body: Accepted } },
  refusals: ["unknown_backup", "unknown_user", "environment_away", "parts_contradict", "file_outside_root"],
  verb: "write",
  resource: { kind: "environment", from: "params.target_env_id" },
  changesLive: true,
  operation: "restoreBackup",
  dryRunOperation: "compareRestore",
});
