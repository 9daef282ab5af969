import * as limits from "@sitewright/server/app/sites/limits.ts";
import * as usage from "@sitewright/server/app/traffic/usage.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const limitHandlers: HandlersOf<
  "changeEnvironmentPhpAllocation" | "changeSitePhpAllocation" | "getLimits" | "changeLimits" | "getUsage"
> = {
  changeEnvironmentPhpAllocation: async (context, { params, body }) =>
    accepted("changeEnvironmentPhpAllocation", await limits.changeAllocation(context, params.env_id, body)),
  changeSitePhpAllocation: async (context, { params, body }) =>
    accepted("changeSitePhpAllocation", await limits.changeSiteAllocation(context, params.site_id, body)),
  getLimits: async (context, { params }) => ({
    status: 200,
    body: { environment: await limits.get(context, params.env_id) },
  }),
  changeLimits: async (context, { params, body }) =>
    accepted("changeEnvironmentLimits", await limits.change(context, params.env_id, body)),
  getUsage: async (context, { query }) => ({
    status: 200,
    body: { company: { usage: await usage.list(context, query) } },
  }),
};
