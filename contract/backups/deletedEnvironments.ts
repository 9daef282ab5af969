/** Environments that were deleted and can be brought back. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, nullable, uuid } from "../schema.ts";
import { moment } from "./backups.ts";

export const whenDeleted = {
  deleted_at: moment("when it was deleted."),
  deleted_by: nullable(Type.String({ description: "Who deleted it.", examples: ["Ada Lovelace"] })),
  restorable_until: moment("how long it can be brought back."),
};

export const DeletedEnvironment = Type.Object(
  {
    id: uuid("Id of the environment, before and afterwards."),
    name: Type.String({ examples: ["staging"] }),
    display_name: Type.String({ examples: ["Staging"] }),
    is_premium: Type.Boolean(),
    is_blocked: Type.Boolean({ description: "True while an operation works on it: it may be on its way back." }),
    ...whenDeleted,
    backup_id: Type.Integer({
      description: "The backup that it is brought back from, its newest. It can be restored to other environments too.",
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
  summary: "List the deleted environments of a site",
  description: "Those that can be brought back, the newest deletion first.",
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
  summary: "Bring a deleted environment back",
  description:
    "The environment is there again under the same id, with the files, the database, the users and the version of PHP that it had when it was deleted. Where the last backup is damaged, the newest one that is whole is taken, and the activity log warns of it; `data.result.environments` says which. Backups of it that are still kept are listed again. Where its name or its address has been taken meanwhile, this is refused, and may be asked for under another display name. If anything fails, it can be brought back as before.",
  params: Type.Object({ site_id, env_id: uuid("Id of the deleted environment.") }),
  body: Type.Object(
    {
      display_name: Type.Optional(
        line(100, "Another display name. The environment's name and address follow from it.", "Staging 2"),
      ),
    },
    { title: "DeletedEnvironmentRestore" },
  ),
  responses: { 202: { description: "The environment is being brought back.", body: Accepted } },
  verb: "write",
  resource: { kind: "site", from: "params.site_id" },
  bucket: "creations",
  operation: "restoreDeletedEnvironment",
});
