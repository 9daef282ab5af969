/**
 * Listens on a port with several sockets. Node accepts one connection of a socket in each round of its event loop, so with a single
 * socket everyone waits behind a flood of new connections: four hundred of them, which closed ones are soon replaced by, took seconds.
 * Linux spreads connections over all sockets of a port.
 */
import { Server as HttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { listen } from "./sockets.ts";

/** Other systems would give all connections to one of the sockets. */
const listenerCount = process.platform === "linux" ? 16 : 1;

/** Servers of the other sockets, by server. */
const others = new WeakMap<Server, readonly Server[]>();

/**
 * Makes a server listen on a port of a host; 0 chooses one. Rejects if the port is in use, also by another such server. Close it with
 * `stopListening`.
 */
export async function listenWidely(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  const chosen = await findFree(host, port);
  const more = Array.from({ length: listenerCount - 1 }, () =>
    createServer({ noDelay: true, allowHalfOpen: server instanceof HttpServer }, (socket) => {
      server.emit("connection", socket);
    }),
  );
  others.set(server, more);
  try {
    for (const each of [...more, server]) {
      await listen(each, { host, port: chosen, reusePort: listenerCount > 1, exclusive: true });
    }
  } catch (error) {
    await Promise.all(more.map(closed));
    throw error;
  }
}

/** Stops accepting connections of any server, also of one that never listened. Resolves when the last connection has closed. */
export async function stopListening(server: Server): Promise<void> {
  await Promise.all([server, ...(others.get(server) ?? [])].map(closed));
}

/** Programs that share a port must all ask for it, and others of ours do. So one that asks to have it alone finds out. */
async function findFree(host: string, port: number): Promise<number> {
  const probe = createServer();
  await listen(probe, { host, port, exclusive: true });
  const address = probe.address();
  await closed(probe);
  return typeof address === "object" && address !== null ? address.port : port;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
