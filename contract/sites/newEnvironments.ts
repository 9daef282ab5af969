/** Creating, cloning and deleting environments. */
import { Type } from "typebox";
import { Deletion, WithoutBackup } from "../backups/deletion.ts";
import { endpoint } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { line, uuid } from "../schema.ts";
import { wordpressFields } from "./wordpress.ts";

const ofSite = Type.Object({ site_id: uuid("Id of the site.") });
const displayName = line(100, "Display name of the environment. Unique within the site; case is ignored.", "Staging");
const isPremium = Type.Boolean({
  description: "Stored and returned, but has no effect on this installation.",
});
const accepted = (description: string) => ({ 202: { description, body: Accepted } });

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
    "Adds an environment with a new WordPress to the site. The environment's name is the slug of its display name, and its address is `<name>-<site>.<suffix>`. If the creation fails, nothing remains and the name is free again.",
  params: ofSite,
  body: EnvironmentCreate,
  responses: accepted("The environment is being created."),
  refusals: [
    "company_limit_reached",
    "no_package_source",
    "unknown_language",
    "multisite_contradiction",
    "multisite_unsupported",
    "site_being_deleted",
    "environment_name_reserved",
    "environment_name_taken",
  ],
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
  description: "Adds an environment with PHP and an empty database, without WordPress.",
  params: ofSite,
  body: Type.Object({ display_name: displayName, is_premium: isPremium }, { title: "PlainEnvironmentCreate" }),
  responses: accepted("The environment is being created."),
  refusals: ["company_limit_reached", "site_being_deleted", "environment_name_reserved", "environment_name_taken"],
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
    "Adds a copy of an environment of the site, with its files, database and PHP version, at a new address. The source stays available.",
  params: ofSite,
  body: Type.Object(
    {
      display_name: displayName,
      is_premium: isPremium,
      source_env_id: uuid("Id of the environment to copy, from the same site."),
    },
    { title: "EnvironmentClone" },
  ),
  responses: accepted("The environment is being cloned."),
  refusals: [
    "company_limit_reached",
    "not_of_this_site",
    "site_being_deleted",
    "environment_name_reserved",
    "environment_name_taken",
  ],
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
    "Deletes the environment with its files and database. It is backed up first, during which writes are refused; if the backup fails, nothing is deleted. The environment can be restored until `restorable_until` (`GET /sites/{site_id}/deleted-environments`); then all its backups are deleted. Its name is free at once. With `without_backup` it is deleted for good. The live environment can only be deleted with its site: for it, the operation fails.",
  params: Type.Object({ env_id: uuid("Id of the environment.") }),
  query: WithoutBackup,
  body: Deletion,
  responses: accepted("The environment is being deleted."),
  verb: "delete",
  resource: { kind: "environment", from: "params.env_id" },
  changesLive: true,
  operation: "deleteEnvironment",
});
