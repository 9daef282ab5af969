import * as deniedIps from "@sitewright/server/app/traffic/deniedIps.ts";
import type { HandlersOf } from "../handling.ts";

export const deniedIpHandlers: HandlersOf<"listDeniedIps" | "replaceDeniedIps"> = {
  listDeniedIps: async (context, { query }) => ({
    status: 200,
    body: { environment: await deniedIps.list(context, query.environment_id) },
  }),
  replaceDeniedIps: async (context, { body }) => {
    await deniedIps.replace(context, body.environment_id, body.ip_list);
    return { status: 200, body: { result: null } };
  },
};
