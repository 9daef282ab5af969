import type { Context } from "@sitewright/server/app/context.ts";
import * as newSite from "@sitewright/server/app/sites/newSite.ts";
import * as resetSite from "@sitewright/server/app/sites/resetSite.ts";
import * as sites from "@sitewright/server/app/sites/sites.ts";
import { isWithoutBackup } from "../backups/deletion.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const siteHandlers: HandlersOf<
  "listSites" | "createSite" | "createPlainSite" | "cloneSite" | "getSite" | "deleteSite" | "resetSite"
> = {
  listSites: async (context: Context, { query }) => ({
    status: 200,
    body: { company: { sites: await sites.list(context, query) } },
  }),
  createSite: async (context, { body }) => accepted("addSite", await newSite.create(context, body)),
  createPlainSite: async (context, { body }) => accepted("addPlainSite", await newSite.createPlain(context, body)),
  cloneSite: async (context, { body }) => accepted("cloneSite", await newSite.clone(context, body)),
  getSite: async (context, { params }) => ({ status: 200, body: { site: await sites.get(context, params.site_id) } }),
  deleteSite: async (context, { params, ...wish }) =>
    accepted("deleteSite", await sites.remove(context, params.site_id, isWithoutBackup(wish))),
  resetSite: async (context, { params, body }) =>
    accepted("resetSite", await resetSite.reset(context, params.site_id, body)),
};
