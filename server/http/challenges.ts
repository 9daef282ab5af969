/** Answers challenges of a certificate authority for the API's own name (RFC 8555, section 8.3). */
import type { FastifyInstance } from "fastify";
import { HttpFailure } from "./faults.ts";

/** `challenges` are the contents by token. */
export function serveChallenges(server: FastifyInstance, challenges: ReadonlyMap<string, string>): void {
  server.get<{ Params: { token: string } }>("/.well-known/acme-challenge/:token", async ({ params }, reply) => {
    const content = challenges.get(params.token);
    if (content === undefined) throw new HttpFailure(404);
    return reply.headers({ "content-type": "application/octet-stream", "cache-control": "no-store" }).send(content);
  });
}
