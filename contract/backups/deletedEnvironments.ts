/** Environments that were deleted and can be brought back. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, nullable, uuid } from "../schema.ts";
import { moment } from "./backups.ts";

export const whenDeleted = {
  deleted_at: moment("when it was deleted."),
  deleted_by: nullable(Type.String({ description: "Who deleted it.", examples: ["Ada Lovelace"] })),
  restorable_until: moment("until it can be restored."),
};

export const DeletedEnvironment = Type.Object(
  {
    id: uuid("Id of the environment. It keeps this id when it is restored."),
    name: Type.String({ examples: ["staging"] }),
    display_name: Type.String({ examples: ["Staging"] }),
    is_premium: Type.Boolean(),
    is_blocked: Type.Boolean({ description: "True while an operation works on it, such as its restore." }),
    ...whenDeleted,
    backup_id: Type.Integer({
      description:
        "Its newest backup, from which it is restored. The backup can be restored to other environments too.",
      examples: [42],
    }),
    backed_up_at: moment("when that backup was made."),
    size_bytes: Type.Integer({ description: "What it takes on a disk.", examples: [104857600] }),
  },
  { title: "DeletedEnvironment" },
);

const site_id = uuid("Id of the site.");

export const listDeletedEnvironments = endpoint({
  method: "GET",
  path: "/sites/{site_id}/deleted-environments",
  tag: "Environments",
  summary: "List a site's deleted environments",
  description: "Those that can be restored, the latest deletion first.",
  params: Type.Object({ site_id }),
  responses: {
    200: result(["site", "deleted_environments"], "The deleted environments.", Type.Array(DeletedEnvironment)),
  },
  verb: "read",
  resource: { kind: "site", from: "params.site_id" },
});

export const restoreDeletedEnvironment = endpoint({
  method: "POST",
  path: "/sites/{site_id}/deleted-environments/{env_id}/restore",
  tag: "Environments",
  summary: "Restore a deleted environment",
  description:
    "Restores the environment under its old id, with the files, database, users and PHP version that it had. If the last backup is damaged, the newest intact one is used, and the activity log warns about it; `data.result.environments` says which backup was used. Backups of it that are still kept are listed again. If its name or address is in use by now, send another display name. If the restore fails, it can be repeated.",
  params: Type.Object({ site_id, env_id: uuid("Id of the deleted environment.") }),
  body: Type.Object(
    {
      display_name: Type.Optional(
        line(100, "A new display name, from which name and address are derived.", "Staging 2"),
      ),
    },
    { title: "DeletedEnvironmentRestore" },
  ),
  responses: { 202: { description: "The environment is being restored.", body: Accepted } },
  verb: "write",
  resource: { kind: "site", from: "params.site_id" },
  bucket: "creations",
  operation: "restoreDeletedEnvironment",
});
