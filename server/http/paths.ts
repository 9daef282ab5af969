/** Paths that do not exist, and those that do but not for that method. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import type { FastifyInstance } from "fastify";
import { errorAnswer } from "./faults.ts";

const rows: readonly Endpoint[] = Object.values(endpoints);

const methodsByPath = Map.groupBy(rows, ({ path }) => path);
const patterns = [...methodsByPath].map(([path, same]) => ({
  pattern: new RegExp(`^/v2${path.replace(/\{\w+\}/g, "[^/]+")}/?$`),
  methods: same.flatMap(({ method }) => (method === "GET" ? [method, "HEAD"] : [method])),
}));

const fixed = [{ pattern: /^\/(v2\/openapi\.json\/?)?$/, methods: ["GET", "HEAD"] }];

/** The methods that a path answers to; none where there is no such path. */
export function methodsOf(path: string): readonly string[] {
  return [...patterns, ...fixed].find(({ pattern }) => pattern.test(path))?.methods ?? [];
}

export function answerUnknownPaths(server: FastifyInstance): void {
  server.setNotFoundHandler((request, reply) => {
    const methods = methodsOf(request.url.split("?", 1)[0] ?? "");
    const { status, body } = errorAnswer(methods.length > 0 ? 405 : 404);
    if (methods.length > 0) reply.header("allow", methods.join(", "));
    return reply.code(status).type("application/json; charset=utf-8").send(JSON.stringify(body));
  });
}
