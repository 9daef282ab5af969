/** Pages of an environment that are kept at the edge. */
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
  description: "Every kept page of the environment is made anew when somebody asks for it next.",
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
          "An address of the environment, or a path that begins with a slash, which is the same page under all of its domains. With a query, only pages with these fields in theirs; without one, with any. Left out: every page.",
        examples: ["https://shop.example.com/news/"],
      }),
    ),
    clear_subdirectories: Type.Optional(
      Type.Boolean({ default: false, description: "Whether everything below `url` is cleared, too." }),
    ),
  },
  { title: "EdgeCacheClearing" },
);

export const clearEdgeCache = endpoint({
  method: "POST",
  path: "/sites/edge-caching/clear",
  tag: "Edge caching",
  summary: "Clear one page, a part or all of the edge cache",
  description:
    "What WordPress itself changes is cleared by itself, at once. This is for what it does not know of: a file of a theme that was edited, a page that shows what is elsewhere.",
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
  summary: "Get whether pages are kept at the edge",
  description:
    "Each answer that could be kept says in `X-Cache` what happened: `HIT`, `STALE` (older than an hour, being made anew), `MISS`, or `BYPASS` (for this visitor alone).",
  query: Type.Object({ environment_id: environmentId }),
  responses: {
    200: result(
      ["environment"],
      "The status.",
      Type.Object({
        id: environmentId,
        edge_caching: Type.Object({
          is_enabled: Type.Boolean({ description: "At first true for live environments, false for others." }),
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
  summary: "Switch the edge cache on or off",
  description:
    "Switched off, no page is kept, and those that are kept are let go. A copy of the environment begins as any new one.",
  body: Type.Object(
    {
      environment_id: environmentId,
      enabled: Type.Boolean({ description: "Whether pages are kept.", examples: [true] }),
    },
    { title: "EdgeCacheStatusChange" },
  ),
  responses: { 202: { description: "The edge cache is being switched.", body: Accepted } },
  verb: "write",
  resource: { kind: "environment", from: "body.environment_id" },
  changesLive: true,
  operation: "updateEdgeCacheStatus",
});
