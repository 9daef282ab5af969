/** Deleted environments that can be restored. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, milliseconds, nullable, uuid } from "../schema.ts";

export const deletionFields = {
  deleted_at: milliseconds("When it was deleted."),
  deleted_by: nullable(
    Type.String({ description: "Name of the user who deleted it, or null.", examples: ["Ada Lovelace"] }),
  ),
  restorable_until: milliseconds("Until when it can be restored.", 1_796_400_000_000),
};

export const DeletedEnvironment = Type.Object(
  {
    id: uuid("Id of the environment. It keeps this id when it is restored."),
    name: Type.String({ description: "Name of the environment.", examples: ["staging"] }),
    display_name: Type.String({ description: "Display name of the environment.", examples: ["Staging"] }),
    is_premium: Type.Boolean({ description: "As set when it was created; it has no effect on this installation." }),
    is_blocked: Type.Boolean({ description: "Whether an operation is working on it, such as its restore." }),
    ...deletionFields,
    backup_id: Type.Integer({
      description:
        "Id of its newest backup, from which it is restored. The backup can also be restored to other environments.",
      examples: [42],
    }),
    backed_up_at: milliseconds("When that backup was made."),
    size_bytes: Type.Integer({ description: "Size on disk, in bytes.", examples: [104857600] }),
  },
  { title: "DeletedEnvironment" },
);

const site_id = uuid("Id of the site.");

export const listDeletedEnvironments = endpoint({
  method: "GET",
  path: "/sites/{site_id}/deleted-environments",
  tag: "Environments",
  summary: "List a site's deleted environments",
  description: "Lists the environments that can be restored, most recently deleted first.",
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
    "Restores the environment under its old id, with its files, database, users and PHP version. If the last backup is damaged, the newest intact one is used, and the activity log has a warning; `data.result.environments` says which backup was used. Its remaining backups are listed again. If its name or address is in use by now, send another display name. A failed restore can be repeated.",
  params: Type.Object({ site_id, env_id: uuid("Id of the deleted environment.") }),
  body: Type.Object(
    {
      display_name: Type.Optional(
        line(100, "A new display name; name and address are derived from it. Default: the old names.", "Staging 2"),
      ),
    },
    { title: "DeletedEnvironmentRestore" },
  ),
  responses: { 202: { description: "The environment is being restored.", body: Accepted } },
  refusals: [
    "company_limit_reached",
    "site_being_deleted",
    "being_brought_back",
    "environment_name_reserved",
    "environment_name_taken",
  ],
  verb: "write",
  resource: { kind: "site", from: "params.site_id" },
  bucket: "creations",
  operation: "restoreDeletedEnvironment",
});
