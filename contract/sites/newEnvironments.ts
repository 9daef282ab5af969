/** Environments that are made, copied and removed. */
import { Type } from "typebox";
import { Deletion, WithoutBackup } from "../backups/deletion.ts";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, uuid } from "../schema.ts";
import { wordpressFields } from "./wordpress.ts";

const ofSite = Type.Object({ site_id: uuid("Id of the site.") });
const displayName = line(100, "Name of the environment for people. Unique in the site, in whatever case.", "Staging");
const isPremium = Type.Boolean({
  description: "Kept and shown; on your own installation every environment has the same means.",
});
const madeOf = (description: string) => ({ 202: { description, body: Accepted } });

export const EnvironmentCreate = Type.Object(
  { display_name: displayName, is_premium: isPremium, ...wordpressFields },
  { title: "EnvironmentCreate" },
);

export const createEnvironment = endpoint({
  method: "POST",
  path: "/sites/{site_id}/environments",
  tag: "Environments",
  summary: "Create an environment",
  description:
    "Adds an environment with a fresh WordPress of its own to the site. Its name is a slug of the display name, and it answers at `<name>-<site>.<suffix>`. If the creation fails, nothing of it remains and the name is free again.",
  params: ofSite,
  body: EnvironmentCreate,
  responses: madeOf("The environment is being made."),
  verb: "write",
  resource: { kind: "site", from: "params.site_id" },
  bucket: "creations",
  operation: "addEnvironment",
});

export const createPlainEnvironment = endpoint({
  method: "POST",
  path: "/sites/{site_id}/environments/plain",
  tag: "Environments",
  summary: "Create an environment without WordPress",
  description: "Adds an environment that has PHP and an empty database, and nothing else.",
  params: ofSite,
  body: Type.Object({ display_name: displayName, is_premium: isPremium }, { title: "PlainEnvironmentCreate" }),
  responses: madeOf("The environment is being made."),
  verb: "write",
  resource: { kind: "site", from: "params.site_id" },
  bucket: "creations",
  operation: "addPlainEnvironment",
});

export const cloneEnvironment = endpoint({
  method: "POST",
  path: "/sites/{site_id}/environments/clone",
  tag: "Environments",
  summary: "Clone an environment",
  description:
    "Adds an environment that is a copy of another one of the site: its files, its database and its PHP version, at an address of its own. The other one goes on answering meanwhile.",
  params: ofSite,
  body: Type.Object(
    {
      display_name: displayName,
      is_premium: isPremium,
      source_env_id: uuid("Id of the environment to copy; one of the same site."),
    },
    { title: "EnvironmentClone" },
  ),
  responses: madeOf("The environment is being copied."),
  verb: "write",
  resource: { kind: "site", from: "params.site_id" },
  bucket: "creations",
  operation: "cloneEnvironment",
});

export const deleteEnvironment = endpoint({
  method: "DELETE",
  path: "/sites/environments/{env_id}",
  tag: "Environments",
  summary: "Delete an environment",
  description:
    "Deletes the environment with its files and its database. It is backed up before, while visitors go on reading and nothing can be written, and it can be brought back until `restorable_until` (`GET /sites/{site_id}/deleted-environments`); then all of its backups go too, whatever their kind; its name is free again at once. If the backup can't be made, the deletion fails and the environment is there as before. With `without_backup` it is deleted for good. The live environment goes only with its site: for it, the operation fails and says so.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  query: WithoutBackup,
  body: Deletion,
  responses: madeOf("The environment is being deleted."),
  verb: "delete",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "deleteEnvironment",
});
