/** Paths that do not exist, and those that do but not for that method. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { HttpFailure } from "./faults.ts";

const rows: readonly Endpoint[] = Object.values(endpoints);

const methodsByPath = Map.groupBy(rows, ({ path }) => path);
const patterns = [...methodsByPath].map(([path, same]) => ({
  pattern: new RegExp(`^/v2${path.replace(/\{\w+\}/g, "[^/]+")}/?$`),
  methods: same.flatMap(({ method }) => (method === "GET" ? [method, "HEAD"] : [method])),
}));

const fixed = [
  { pattern: /^\/(metrics\/?|v2\/openapi\.json\/?|v2\/downloads\/[^/]+\/[^/]+)?$/, methods: ["GET", "HEAD"] },
];

/** The methods that a path answers to; none if there is no such path. */
export function methodsOf(path: string): readonly string[] {
  return [...patterns, ...fixed].find(({ pattern }) => pattern.test(path))?.methods ?? [];
}

/** Before a body is read: what was sent to a path that does not exist does not matter. Add it after the gate. */
export function refuseUnknownPaths(server: FastifyInstance): void {
  server.addHook("onRequest", async (request) => {
    if (!request.is404) return;
    const methods = methodsOf(request.url.split("?", 1)[0] ?? "");
    throw methods.length > 0 ? new HttpFailure(405, { allow: methods.join(", ") }) : new HttpFailure(404);
  });
}

/** This server as the client addressed it, such as `http://127.0.0.1:8080`. Empty if the `Host` header is not a host. */
export function originOf({ protocol, host }: FastifyRequest): string {
  return /^[\w.-]+(:\d{1,5})?$|^\[[\da-fA-F:.]+\](:\d{1,5})?$/.test(host) ? `${protocol}://${host}` : "";
}
