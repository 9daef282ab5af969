/** Limits how many connections and requests an address may have open, and how long they may take to send a request. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";
import { clientNetwork } from "@sitewright/server/app/traffic/networks.ts";
import type { FastifyInstance } from "fastify";
import type { IsTrustedProxy } from "./edgeSocket.ts";
import { HttpFailure } from "./faults.ts";
import type { CountRequest } from "./rateLimits.ts";

export interface ConnectionLimits {
  /** From one IPv4 address, or from one IPv6 /64. */
  readonly connectionsPerAddress: number;
  /** Timeout for the head of a request. Absent: 15. */
  readonly headSeconds?: number;
  /** Timeout for a client to take a page of a long list. Absent: 30. */
  readonly pageSeconds?: number;
}

const defaultHeadSeconds = 15;
const defaultPageSeconds = 30;
/** Long enough for the largest body over a slow connection. */
export const requestMilliseconds = 60_000;

/** Options of Node's server. Connections that send nothing count as slow, too. */
export function timeouts({ headSeconds = defaultHeadSeconds }: ConnectionLimits) {
  return { headersTimeout: headSeconds * 1000, connectionsCheckingInterval: Math.min(headSeconds * 500, 5_000) };
}

export function pageMillisecondsOf({ pageSeconds = defaultPageSeconds }: ConnectionLimits): number {
  return pageSeconds * 1_000;
}

/** Closes connections beyond the limit of their address at once. A trusted proxy's connections are of many clients. */
export function limitConnections(
  server: Server,
  { connectionsPerAddress }: ConnectionLimits,
  isTrustedProxy: IsTrustedProxy,
): void {
  const take = countByNetwork(connectionsPerAddress);
  server.on("connection", (socket: Socket) => {
    if (isTrustedProxy(socket.remoteAddress)) return;
    const release = take(socket.remoteAddress ?? "");
    if (release === null) socket.destroy();
    else socket.once("close", release);
  });
}

/** How long a connection may stay without a request while the server stops: one may be on its way. */
const silentMilliseconds = 500;

/**
 * Ends the connections that have no request in progress while the server stops. Node ends only those that are between two requests,
 * so the server would wait for clients that have connected in advance, as browsers do, or have sent a part of a head.
 */
export function endSilentConnections(server: Server, stopping: AbortSignal): void {
  const requests = new Map<Socket, number>();
  server.on("connection", (socket: Socket) => {
    requests.set(socket, 0);
    socket.once("close", () => requests.delete(socket));
  });
  const count = (socket: Socket, change: 1 | -1) => {
    const open = requests.get(socket);
    if (open !== undefined) requests.set(socket, open + change);
  };
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    count(socket, 1);
    response.on("close", () => count(socket, -1));
  });
  stopping.addEventListener("abort", () => {
    const ending = setInterval(() => {
      for (const [socket, open] of requests) if (open === 0) socket.destroy();
    }, silentMilliseconds);
    server.once("close", () => clearInterval(ending));
  });
}

/** Takes one of the places of an address for open requests. Returns its release, or null if all are taken. */
export type TakeRequest = (address: string) => (() => void) | null;

export function makeTakeRequest({ connectionsPerAddress }: ConnectionLimits): TakeRequest {
  return countByNetwork(connectionsPerAddress);
}

/** Refuses requests beyond the limit of their client, who may use a trusted proxy's connections. */
export function limitRequests(server: FastifyInstance, take: TakeRequest, count: CountRequest): void {
  server.addHook("onRequest", (request, reply, done) => {
    const release = take(request.ip);
    if (release !== null) {
      // It closes once; `once` would take more memory.
      reply.raw.on("close", release);
      return done();
    }
    const { headers } = count(undefined, clientNetwork(request.ip));
    reply.headers({ "retry-after": "1", ...headers });
    done(new HttpFailure(429));
  });
}

/** Returns a function that takes one of `limit` places of an address's network and returns its release, or null if all are taken. */
function countByNetwork(limit: number): TakeRequest {
  const open = new Map<string, number>();
  return (address) => {
    const network = clientNetwork(address);
    const count = open.get(network) ?? 0;
    if (count >= limit) return null;
    open.set(network, count + 1);
    return () => {
      const left = (open.get(network) ?? 0) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    };
  };
}
