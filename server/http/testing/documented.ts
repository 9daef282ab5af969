/** Checks that every response of the tests is documented. */
import type { FastifyInstance } from "fastify";
import { problemsOf } from "./documentedAnswers.ts";

/** Returns the problems of all responses so far. */
export function checkResponses(server: FastifyInstance): () => ReadonlySet<string> {
  const problems = new Set<string>();
  server.addHook("onSend", async (request, reply, payload) => {
    const { route } = request.routeOptions.config;
    const isText = typeof payload === "string" || Buffer.isBuffer(payload);
    if (route === undefined || !isText || request.method === "HEAD") return payload;
    for (const problem of problemsOf(route.row, reply.statusCode, JSON.parse(String(payload)))) {
      problems.add(`${route.row.method} ${route.row.path} ${reply.statusCode}: ${problem}`);
    }
    return payload;
  });
  return () => problems;
}
