/** The page cache of environments. */
import { Type } from "typebox";
import { endpoint, result } from "../endpoint.ts";
import { Accepted } from "../operations.ts";
import { uuid } from "../schema.ts";

const environmentId = uuid("Id of the environment.");

export const clearCache = endpoint({
  method: "POST",
  path: "/sites/tools/clear-cache",
  tag: "Tools",
  summary: "Clear an environment's page cache",
  description: "Clears all cached pages; each page is rendered again on its next request.",
  body: Type.Object({ environment_id: environmentId }, { title: "CacheClearing" }),
  responses: { 202: { description: "The page cache is being cleared.", body: Accepted } },
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
          "The page to clear: a URL of the environment, or a path that starts with a slash, for the page on all domains. With a query string, only the variants of the page with these query fields are cleared; without one, all variants. Default: all pages.",
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
    "Changes made in WordPress clear the affected pages automatically. Use this call for changes that WordPress does not know about, such as an edited theme file or a page that shows external data.",
  body: EdgeCacheClearing,
  responses: { 202: { description: "The pages are being cleared.", body: Accepted } },
  refusals: ["not_an_address_of_the_site"],
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
    "Returns whether the page cache is on. The `X-Cache` header of a page says how it was served: `HIT` (from the cache), `STALE` (from the cache, older than an hour and being refreshed), `MISS` (by PHP) or `BYPASS` (by PHP, private to this visitor).",
  query: Type.Object({ environment_id: environmentId }),
  responses: {
    200: result(
      ["environment"],
      "The setting.",
      Type.Object({
        id: environmentId,
        edge_caching: Type.Object({
          is_enabled: Type.Boolean({
            description: "Whether pages are cached. Default: true for live environments, false for others.",
            examples: [true],
          }),
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
  description: "Turning it off also clears it. Clones start with the default.",
  body: Type.Object(
    {
      environment_id: environmentId,
      enabled: Type.Boolean({ description: "Whether pages are cached.", examples: [true] }),
    },
    { title: "EdgeCacheStatusChange" },
  ),
  responses: { 202: { description: "The page cache is being turned on or off.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "body.environment_id" },
  changesLive: true,
  operation: "updateEdgeCacheStatus",
});
