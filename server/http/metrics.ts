/** `GET /metrics`: for monitoring systems on this machine, or with the token. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Metrics } from "@sitewright/server/app/metrics.ts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import ipaddr from "ipaddr.js";
import { HttpFailure } from "./faults.ts";
import { tokenOf } from "./tokens.ts";

/** If `token` is set, every request must send it. If it is null, other machines get a 404. */
export function serveMetrics(server: FastifyInstance, metrics: Metrics, token: string | null): void {
  server.get("/metrics", async (request, reply) => {
    if (token === null && !isLocal(request)) throw new HttpFailure(404);
    if (token !== null && !isEqual(tokenOf(request), token))
      throw new HttpFailure(401, { "www-authenticate": "Bearer" });
    return reply
      .headers({ "content-type": metrics.contentType, "cache-control": "no-store" })
      .send(await metrics.read());
  });
}

/** Headers by which proxies on this machine mark requests from other machines. */
const proxyHeaders = ["forwarded", "x-forwarded-for", "x-real-ip", "via"];

function isLocal({ ip, headers }: FastifyRequest): boolean {
  if (proxyHeaders.some((name) => headers[name] !== undefined)) return false;
  return ipaddr.isValid(ip) && ipaddr.process(ip).range() === "loopback";
}

/** Compares in constant time. */
function isEqual(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
