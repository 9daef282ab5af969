/**
 * The edge put together: a server for visitors, one for PHP's own calls, and one to be told by.
 *
 * It starts from the table in its file and needs nobody to go on serving from it.
 */
import { mkdir, rm } from "node:fs/promises";
import type { Server } from "node:http";
import type { ListenOptions } from "node:net";
import path from "node:path";
import { createAdminServer } from "./admin.ts";
import { createRoutes } from "./routes.ts";
import { loadTableFile } from "./tableFile.ts";
import type { Upstream } from "./upstream.ts";
import type { EdgeLog, EdgeParts, Limits } from "./visit.ts";
import { createVisitorServer } from "./visitors.ts";

export interface EdgeOptions {
  /** The edge closes it when it is closed. */
  readonly upstream: Upstream;
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Folder for the sockets, made if it isn't there; its path must be short. */
  readonly runFolder: string;
  readonly tableFile: string;
  readonly limits: Limits;
  readonly log: EdgeLog;
}

export interface Edge {
  readonly port: number;
  readonly adminSocket: string;
  readonly loopbackSocket: string;
  /** Takes no new visitors, lets those that are being answered finish for so long, then ends what PHP runs. */
  close(graceMilliseconds: number): Promise<void>;
}

/** Rejects with the error of `listen` (`EADDRINUSE`, `EACCES`) where the visitors' port can't be had. */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const { upstream, limits, log } = options;
  const routes = createRoutes(upstream);
  const parts: EdgeParts = { routes, upstream, limits, log };
  const visitors = createVisitorServer(parts, false);
  const loopback = createVisitorServer(parts, true);
  const admin = createAdminServer(parts, () => portOf(visitors));
  const sockets = {
    admin: path.join(options.runFolder, "edge.sock"),
    loopback: path.join(options.runFolder, "edge-loopback.sock"),
  };

  await routes.set(
    await loadTableFile(options.tableFile, (err) => log.error({ err, file: options.tableFile }, "broken table file")),
  );
  await mkdir(options.runFolder, { recursive: true, mode: 0o700 });
  const servers: Server[] = [];
  try {
    for (const [server, where] of [
      [visitors, { host: options.host, port: options.port }],
      [loopback, { path: sockets.loopback }],
      [admin, { path: sockets.admin }],
    ] as const) {
      await listen(server, where);
      servers.push(server);
    }
  } catch (error) {
    await Promise.all(servers.map((server) => closeServer(server, 0)));
    throw error;
  }

  return {
    port: portOf(visitors),
    adminSocket: sockets.admin,
    loopbackSocket: sockets.loopback,
    async close(graceMilliseconds) {
      await Promise.all(servers.map((server) => closeServer(server, graceMilliseconds)));
      await upstream.close();
    },
  };
}

/** A socket file that an edge left behind when it was killed is in the way and of no use. */
async function listen(server: Server, where: ListenOptions): Promise<void> {
  if (where.path !== undefined) await rm(where.path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function closeServer(server: Server, graceMilliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const end = setTimeout(() => server.closeAllConnections(), graceMilliseconds);
    // `close` lets go of connections that are idle when it is called, not of those that become idle afterwards.
    const idle = setInterval(() => server.closeIdleConnections(), 50);
    server.close(() => {
      clearTimeout(end);
      clearInterval(idle);
      resolve();
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
