/** The page cache of an environment. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { uuid } from "../schema.ts";

const environmentId = uuid("Id of the environment.");

export const clearCache = endpoint({
  method: "POST",
  path: "/sites/tools/clear-cache",
  tag: "Tools",
  summary: "Clear the cache of a site",
  description: "Clears the environment's whole page cache; each page is rendered again on its next request.",
  body: Type.Object({ environment_id: environmentId }, { title: "CacheClearing" }),
  responses: { 202: { description: "The cache is being cleared.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "body.environment_id" },
  changesLive: true,
  operation: "clearCache",
});

export const EdgeCacheClearing = Type.Object(
  {
    environment_id: environmentId,
    url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        description:
          "A URL of the environment, or a path that starts with a slash, which clears the page on all domains. With a query, only pages that have these fields in theirs; without one, all of them. Omitted: every page.",
        examples: ["https://shop.example.com/news/"],
      }),
    ),
    clear_subdirectories: Type.Optional(
      Type.Boolean({ default: false, description: "Also clear everything below `url`." }),
    ),
  },
  { title: "EdgeCacheClearing" },
);

export const clearEdgeCache = endpoint({
  method: "POST",
  path: "/sites/edge-caching/clear",
  tag: "Edge caching",
  summary: "Clear a page, a subtree or the whole page cache",
  description:
    "Changes made in WordPress clear the affected pages automatically and at once. Use this for changes that WordPress does not know about, such as an edited theme file or a page that shows external data.",
  body: EdgeCacheClearing,
  responses: { 202: { description: "The edge cache is being cleared.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "body.environment_id" },
  changesLive: true,
  operation: "clearEdgeCache",
});

export const getEdgeCacheStatus = endpoint({
  method: "GET",
  path: "/sites/edge-caching/status",
  tag: "Edge caching",
  summary: "Get the page cache setting",
  description:
    "The header `X-Cache` of a page says how it was served: `HIT`, `STALE` (older than an hour, being refreshed), `MISS`, or `BYPASS` (private to this visitor).",
  query: Type.Object({ environment_id: environmentId }),
  responses: {
    200: result(
      ["environment"],
      "The status.",
      Type.Object({
        id: environmentId,
        edge_caching: Type.Object({
          is_enabled: Type.Boolean({ description: "Initially true for live environments and false for others." }),
        }),
      }),
      { title: "EdgeCaching" },
    ),
  },
  verb: "read",
  resource: { kind: "environment", from: "query.environment_id" },
});

export const updateEdgeCacheStatus = endpoint({
  method: "PUT",
  path: "/sites/edge-caching/status",
  tag: "Edge caching",
  summary: "Turn the page cache on or off",
  description: "Turning it off also clears it. A clone starts with the default of a new environment.",
  body: Type.Object(
    {
      environment_id: environmentId,
      enabled: Type.Boolean({ description: "Whether pages are cached.", examples: [true] }),
    },
    { title: "EdgeCacheStatusChange" },
  ),
  responses: { 202: { description: "The edge cache is being switched.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "body.environment_id" },
  changesLive: true,
  operation: "updateEdgeCacheStatus",
});
