/** Accepts requests that the edge passes on, from clients that use the API's own name. */
import { chmod, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:net";
import type { TrustedProxies } from "@sitewright/edge/http/trustedProxies.ts";
import type { FastifyInstance } from "fastify";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/** Whether the sender with this address tells the client's address and scheme. */
export type IsTrustedProxy = (address: string | undefined) => boolean;

/**
 * Trusts the edge, whose socket has no address, proxies with TLS on this machine, and those that the operator has listed. Fastify asks
 * several times for each request, so answers are remembered.
 */
export function trustProxies(listed: TrustedProxies): IsTrustedProxy {
  const known = new LRUCache<string, boolean>({ max: 1_000 });
  return (address) => {
    if (address === undefined) return true;
    const found = known.get(address);
    if (found !== undefined) return found;
    const parsed = ipaddr.isValid(address) ? ipaddr.process(address) : null;
    const isTrusted = parsed !== null && (parsed.range() === "loopback" || listed.has(parsed.toString()));
    known.set(address, isTrusted);
    return isTrusted;
  };
}

/**
 * The client's address, like Fastify's `request.ip` and without its objects. Null if several proxies have passed the request on,
 * which Fastify has to sort out.
 */
export function clientAddress(
  { socket, headers }: Pick<IncomingMessage, "socket" | "headers">,
  isTrusted: IsTrustedProxy,
): string | null {
  const forwarded = headers["x-forwarded-for"];
  const { remoteAddress = "" } = socket;
  if (forwarded === undefined) return remoteAddress;
  return typeof forwarded === "string" && /^[\da-fA-F.:]+$/.test(forwarded) && isTrusted(socket.remoteAddress)
    ? forwarded
    : null;
}

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
