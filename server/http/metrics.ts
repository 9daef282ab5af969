/** `GET /metrics`: for a monitoring system on this machine, or for one that has the token. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Metrics } from "@sitewright/server/app/metrics.ts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import { HttpFailure } from "./faults.ts";
import { tokenOf } from "./identity.ts";

/** If there is a token, every request must send it. If there is none, other machines get a 404. */
export function serveMetrics(server: FastifyInstance, metrics: Metrics, token: string | null): void {
  server.get("/metrics", async (request, reply) => {
    if (token === null && !isFromHere(request)) throw new HttpFailure(404);
    if (token !== null && !isSame(tokenOf(request), token))
      throw new HttpFailure(401, { "www-authenticate": "Bearer" });
    return reply
      .headers({ "content-type": metrics.contentType, "cache-control": "no-store" })
      .send(await metrics.read());
  });
}

/** A proxy on this machine passes on what comes from elsewhere, and says so. */
const proxyHeaders = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

function isFromHere({ ip, headers }: FastifyRequest): boolean {
  if (proxyHeaders.some((name) => headers[name] !== undefined)) return false;
  return ipaddr.isValid(ip) && ipaddr.process(ip).range() === "loopback";
}

/** Takes as long for every wrong one. */
function isSame(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
