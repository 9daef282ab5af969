import * as edgeCaching from "@sitewright/server/app/traffic/edgeCaching.ts";
import { accepted, type HandlersOf } from "../handling.ts";

export const edgeCachingHandlers: HandlersOf<
  "clearCache" | "clearEdgeCache" | "getEdgeCacheStatus" | "updateEdgeCacheStatus"
> = {
  clearCache: async (context, { body }) =>
    accepted("clearCache", await edgeCaching.clearAll(context, body.environment_id)),
  clearEdgeCache: async (context, { body }) => accepted("clearEdgeCache", await edgeCaching.clear(context, body)),
  getEdgeCacheStatus: async (context, { query }) => ({
    status: 200,
    body: { environment: await edgeCaching.status(context, query.environment_id) },
  }),
  updateEdgeCacheStatus: async (context, { body }) =>
    accepted("updateEdgeCacheStatus", await edgeCaching.setStatus(context, body.environment_id, body.enabled)),
};
