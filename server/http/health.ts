/** `GET /health`: for whatever restarts services or takes machines out of a load balancer. It tells nothing about the content. */
import type { App } from "@sitewright/server/app/context.ts";
import { isDatabaseUp } from "@sitewright/server/app/health.ts";
import type { FastifyInstance } from "fastify";

const unavailable = 503;

export function serveHealth(server: FastifyInstance, app: Pick<App, "database" | "edgeNumbers">): void {
  server.get("/health", async (_, reply) => {
    const [database, edge] = await Promise.all([isDatabaseUp(app.database), app.edgeNumbers()]);
    const parts = { database, edge: edge !== null };
    const isWell = Object.values(parts).every((isUp) => isUp);
    const headers = { "cache-control": "no-store" };
    return reply
      .code(isWell ? 200 : unavailable)
      .headers(headers)
      .send({ status: isWell ? "ok" : "unavailable", ...parts });
  });
}
