/**
 * Listens on a port with several sockets. Node accepts one connection of a socket in each round of its event loop, so with a single
 * socket everyone waits behind a flood of new connections: for seconds, when hundreds were closed and opened again. Linux spreads
 * connections over all sockets of a port.
 */
import { Server as HttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { listen } from "./sockets.ts";

/** Other systems would give all connections to one of the sockets. */
const listenerCount = process.platform === "linux" ? 16 : 1;

/** How many connections may wait on an inherited socket. Linux lowers it to `net.core.somaxconn`. */
const waitingConnections = 4_096;

/** Servers of the other sockets, by server. */
const others = new WeakMap<Server, readonly Server[]>();

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Descriptors of sockets of this port that the process has inherited. Absent: it opens them. */
  readonly inherited?: readonly number[] | undefined;
}

/** Makes a server listen. Rejects if the port is in use, also by another such server. Close it with `stopListening`. */
export async function listenWidely(server: Server, { host, port, inherited }: ListenAddress): Promise<void> {
  if (port !== 0 && inherited === undefined) await checkFree(host, port);
  const more = Array.from({ length: (inherited?.length ?? listenerCount) - 1 }, () =>
    createServer({ noDelay: true, allowHalfOpen: server instanceof HttpServer }, (socket) => {
      server.emit("connection", socket);
    }),
  );
  others.set(server, more);
  try {
    // The server itself is first: only from then on it limits how long a connection may take.
    for (const [index, each] of [server, ...more].entries()) {
      const fd = inherited?.[index];
      if (fd !== undefined) await listen(each, { fd }, waitingConnections);
      else await listen(each, { host, port: port || portOf(server), reusePort: listenerCount > 1, exclusive: true });
    }
  } catch (error) {
    await stopListening(server);
    throw error;
  }
}

/** Stops accepting connections of any server, also of one that never listened. Resolves when the last connection has closed. */
export async function stopListening(server: Server): Promise<void> {
  await Promise.all([server, ...(others.get(server) ?? [])].map(closed));
}

/** Closes a server when running requests have finished, or after the grace period. Also works for one that never listened. */
export async function closeServer(server: HttpServer, graceMilliseconds: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), graceMilliseconds);
  // `close` only ends connections that are already idle.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  await stopListening(server);
  clearTimeout(deadline);
  clearInterval(idle);
}

/** Rejects if the port is in use. Listening with `reusePort` would share it with another edge without an error. */
async function checkFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  await listen(probe, { host, port, exclusive: true });
  await closed(probe);
}

/** Returns the port that the system chose, or 0 if the server does not listen yet. */
function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
