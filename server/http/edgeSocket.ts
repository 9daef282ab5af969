/** Accepts requests that the edge passes on, from clients that use the API's own name. */
import { chmod, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:net";
import type { FastifyInstance } from "fastify";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/**
 * Whether the sender tells the client's address and scheme: the edge, whose socket has no address, or a proxy with TLS on this
 * machine.
 */
export function isTrustedProxy(address: string | undefined): boolean {
  if (address === undefined) return true;
  const known = loopback.get(address);
  if (known !== undefined) return known;
  const isLoopback = ipaddr.isValid(address) && ipaddr.process(address).range() === "loopback";
  loopback.set(address, isLoopback);
  return isLoopback;
}

/**
 * The client's address, like Fastify's `request.ip` and without its objects. Null if several proxies have passed the request on,
 * which Fastify has to sort out.
 */
export function clientAddress({ socket, headers }: Pick<IncomingMessage, "socket" | "headers">): string | null {
  const forwarded = headers["x-forwarded-for"];
  const { remoteAddress = "" } = socket;
  if (forwarded === undefined) return remoteAddress;
  return typeof forwarded === "string" && /^[\da-fA-F.:]+$/.test(forwarded) && isTrustedProxy(socket.remoteAddress)
    ? forwarded
    : null;
}

/** Whether an address is a loopback address. Fastify asks several times for each request. */
const loopback = new LRUCache<string, boolean>({ max: 1_000 });

/**
 * Leaves it to the edge to close its connections. Fastify closes those with a body that it refused to read, and the edge,
 * which is still sending the body, could then lose the answer.
 */
export function keepEdgeConnections(server: FastifyInstance): void {
  server.addHook("onSend", ({ socket }, reply, _payload, done) => {
    if (socket.remoteAddress === undefined) reply.removeHeader("connection");
    done();
  });
}

/** Only this user may enter the socket's folder. The server handles its connections like those of its own port. */
export async function listenForEdge({ server }: FastifyInstance, socket: string): Promise<AsyncDisposable> {
  const listener = createServer((connection) => server.emit("connection", connection));
  await rm(socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject).listen(socket, resolve);
  });
  await chmod(socket, 0o600);
  return {
    // Its connections end together with the server's.
    [Symbol.asyncDispose]: async () => void listener.close(),
  };
}
