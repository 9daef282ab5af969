/** Refuses unknown paths, and methods that a path does not support. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { HttpFailure } from "./faults.ts";

const rows: readonly Endpoint[] = Object.values(endpoints);

const rowsByPath = Map.groupBy(rows, ({ path }) => path);
const patterns = [...rowsByPath].map(([path, group]) => ({
  pattern: new RegExp(`^/v2${path.replace(/\{\w+\}/g, "[^/]+")}/?$`),
  methods: group.flatMap(({ method }) => (method === "GET" ? [method, "HEAD"] : [method])),
}));

const fixed = [
  {
    pattern:
      /^\/(docs\/?|console\/[^/]+\/?|health\/?|metrics\/?|tour\.md\/?|reference\/[^/]+\/[^/]+\/?|v2\/openapi\.json\/?|v2\/downloads\/[^/]+\/[^/]+|\.well-known\/acme-challenge\/[^/]+)?$/,
    methods: ["GET", "HEAD"],
  },
];

/** The methods that a path supports; empty if there is no such path. */
export function methodsOf(path: string): readonly string[] {
  return [...patterns, ...fixed].find(({ pattern }) => pattern.test(path))?.methods ?? [];
}

/**
 * Answers 404 or 405 before the body is read, except to requests for pages of the console. Add this hook after the one that
 * authenticates.
 */
export function refuseUnknownPaths(server: FastifyInstance): void {
  server.addHook("onRequest", (request, _reply, done) => {
    done(request.is404 && !isConsolePage(request) ? refusalOf(request) : undefined);
  });

  function refusalOf(request: FastifyRequest): HttpFailure {
    const methods = methodsOf(pathOf(request));
    if (methods.length > 0) return new HttpFailure(405, { allow: methods.join(", ") });
    // A path with invalid percent-encoding may be an endpoint's, with a malformed id.
    if (request.url !== request.originalUrl) return new HttpFailure(404);
    const path = pathOf(request).slice(0, maxPathLength);
    const message = `There is no ${request.method} ${path}. All endpoints: ${originOf(request)}/docs`;
    return new HttpFailure(404, {}, message);
  }
}

/** Whether the console's page answers a request for a path that nothing else has. It shows people that there is no such page. */
export function isConsolePage(request: FastifyRequest): boolean {
  const path = pathOf(request);
  const isRead = request.method === "GET" || request.method === "HEAD";
  const acceptsPages = request.headers.accept?.includes("text/html") === true;
  return isRead && acceptsPages && !/^\/(v2|console|reference|\.well-known)(\/|$)/.test(path) && !/\.[^/]*$/.test(path);
}

const pathOf = ({ url }: FastifyRequest): string => url.split("?", 1)[0] ?? "";

/** Longer paths are truncated in messages. */
const maxPathLength = 200;

/**
 * The address that the client used, such as `http://127.0.0.1:8080`. Empty if the `Host` header, or a header of a proxy, is
 * invalid.
 */
export function originOf({ protocol, host }: FastifyRequest): string {
  const origin = `${protocol}://${host}`;
  return /^https?:\/\/([\w.-]+|\[[\da-fA-F:.]+\])(:\d{1,5})?$/.test(origin) ? origin : "";
}
