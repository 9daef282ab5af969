import * as redirectRules from "@sitewright/server/app/traffic/redirectRules.ts";
import type { HandlersOf } from "../handling.ts";

export const redirectRuleHandlers: HandlersOf<
  "listRedirectRules" | "updateRedirectRules" | "testRedirectRules" | "exportRedirectRules" | "importRedirectRules"
> = {
  listRedirectRules: async (context, { params, query }) => ({
    status: 200,
    body: { environment: await redirectRules.list(context, params.env_id, query) },
  }),
  updateRedirectRules: async (context, { params, body }) => ({
    status: 200,
    body: { environment: await redirectRules.update(context, params.env_id, body) },
  }),
  testRedirectRules: async (context, { params, body }) => ({
    status: 200,
    body: await redirectRules.tryOut(context, params.env_id, body),
  }),
  exportRedirectRules: async (context, { params }) => ({
    status: 200,
    body: { csv: await redirectRules.exportCsv(context, params.env_id) },
  }),
  importRedirectRules: async (context, { params, body }) => ({
    status: 200,
    body: await redirectRules.importCsv(context, params.env_id, body),
  }),
};
