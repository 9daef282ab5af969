import type { Context } from "@sitewright/server/app/context.ts";
import * as newSite from "@sitewright/server/app/newSite.ts";
import * as sites from "@sitewright/server/app/sites.ts";
import { accepted, type HandlersOf } from "./handling.ts";

export const siteHandlers: HandlersOf<
  "listSites" | "createSite" | "createPlainSite" | "cloneSite" | "getSite" | "deleteSite"
> = {
  listSites: async (context: Context, { query }) => ({
    status: 200,
    body: { company: { sites: await sites.list(context, query) } },
  }),
  createSite: async (context, { body }) => accepted("addSite", await newSite.create(context, body)),
  createPlainSite: async (context, { body }) => accepted("addPlainSite", await newSite.createPlain(context, body)),
  cloneSite: async (context, { body }) => accepted("cloneSite", await newSite.clone(context, body)),
  getSite: async (context, { params }) => ({ status: 200, body: { site: await sites.get(context, params.site_id) } }),
  deleteSite: async (context, { params }) => accepted("deleteSite", await sites.remove(context, params.site_id)),
};
