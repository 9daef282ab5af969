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
    note: nullable(
      Type.String({ description: "The tag that it was made with.", examples: ["Before the summer sale"] }),
    ),
    type: Type.Enum(["manual", "scheduled", "system-generated"], {
      description: "Somebody asked for it; it was time; or something else was about to change the environment.",
    }),
    created_at: moment("when it was made."),
    verified_at: moment(
      "when what it needs was last read in the archives, and found unharmed. Of its parts, the one that was read longest ago counts.",
    ),
    expires_at: moment("when it is removed, unless the environment has no newer one."),
    last_proven_restore: nullable(
      moment(
        "when it was last restored beside the site, by itself, and its pages came and its tables had their rows. Null: never yet.",
      ),
    ),
    proof_error: nullable(
      Type.String({
        description: "What was wrong when it was last restored beside the site. Null: nothing, or it never was.",
        examples: ["The table wp_posts had 5 rows when it was backed up, and had 3 rows when it was restored."],
      }),
    ),
    damage: nullable(
      Type.String({
        description:
          "What it needs and was found missing or damaged in the archives. Null: nothing, or it is there again. Restoring such a backup is still tried; what it can't give is then said, and nothing is changed.",
        examples: [
          "This backup can't be restored: what it needs for wp-content/uploads/2026/11/harbour.jpg is missing or damaged.",
        ],
      }),
    ),
    size_bytes: Type.Integer({ description: "What it takes on a disk when it is restored.", examples: [104857600] }),
  },
  { title: "Backup" },
);

export const listBackups = endpoint({
  method: "GET",
  path: "/sites/environments/{env_id}/backups",
  tag: "Backups",
  summary: "List the backups of an environment",
  description:
    "Every backup that was finished, the newest first. damage and proof_error say of which of them it is known that they can't be restored, or not as they were.",
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
        description: "What you want to remember about it.",
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
    "Keeps the environment's files and database as they are now, while it goes on serving visitors. The database is that of one moment, also while it is written to; the files are those of a few moments, each whole or, where one is being written just then, as it was found. The backup is listed when everything that it needs was found in the archives, and verified_at says by when all of it was read.",
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
  summary: "Remove a backup",
  description:
    "What other backups need of it stays in the archives. A backup of a deleted site goes only for whoever may delete sites: without any the site can't be brought back.",
  params: Type.Object({
    backup_id: Type.String({
      pattern: pattern("^[1-9][0-9]{0,9}$", "must be the id of a backup, a whole number"),
      description: "Id of the backup.",
      examples: ["42"],
    }),
  }),
  responses: { 202: { description: "The backup is being removed.", body: Accepted } },
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
        "A user of the company. Nobody is notified yet, because the platform itself sends no mail: the activity log and the operation say how it ended.",
      ),
    ),
    only: Type.Optional(
      Type.Enum(["files", "database"], {
        description: "Restores the one and leaves the other as it is. Without it, both.",
      }),
    ),
    without_backup: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Restores also where the environment can't be backed up at the moment: nothing is backed up before, and what the environment is now is lost.",
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
