/** `GET /health`: whether the database and the edge work, for service managers and load balancers. */
import type { App } from "@sitewright/server/app/context.ts";
import { isDatabaseUp } from "@sitewright/server/app/health.ts";
import type { FastifyInstance } from "fastify";

const unavailable = 503;

export function serveHealth(server: FastifyInstance, app: Pick<App, "database" | "edgeNumbers">): void {
  server.get("/health", async (_, reply) => {
    const [database, edge] = await Promise.all([isDatabaseUp(app.database), app.edgeNumbers()]);
    const parts = { database, edge: edge !== null };
    const isHealthy = Object.values(parts).every((isUp) => isUp);
    const headers = { "cache-control": "no-store" };
    return reply
      .code(isHealthy ? 200 : unavailable)
      .headers(headers)
      .send({ status: isHealthy ? "ok" : "unavailable", ...parts });
  });
}
