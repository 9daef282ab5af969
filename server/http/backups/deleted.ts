import * as deletedEnvironments from "@sitewright/server/app/backups/deletedEnvironments.ts";
import * as deletedSites from "@sitewright/server/app/backups/deletedSites.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const deletedHandlers: HandlersOf<
  "listDeletedSites" | "restoreDeletedSite" | "listDeletedEnvironments" | "restoreDeletedEnvironment"
> = {
  listDeletedSites: async (context) => ({
    status: 200,
    body: { company: { deleted_sites: await deletedSites.list(context) } },
  }),
  restoreDeletedSite: async (context, { params, body }) =>
    accepted("restoreDeletedSite", await deletedSites.restore(context, params, body.display_name ?? null)),
  listDeletedEnvironments: async (context, { params }) => ({
    status: 200,
    body: { site: { deleted_environments: await deletedEnvironments.list(context, params.site_id) } },
  }),
  restoreDeletedEnvironment: async (context, { params, body }) =>
    accepted(
      "restoreDeletedEnvironment",
      await deletedEnvironments.restore(context, params, body.display_name ?? null),
    ),
};
