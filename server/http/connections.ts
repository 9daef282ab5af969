/** Limits how many connections an address may have open, and how long they may take to send a request. */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { clientNetwork } from "@sitewright/server/app/traffic/networks.ts";

export interface ConnectionLimits {
  /** From one IPv4 address, or from one IPv6 /64. */
  readonly connectionsPerAddress: number;
  /** Timeout for the head of a request. Absent: 15. */
  readonly headSeconds?: number;
}

const defaultHeadSeconds = 15;
/** Long enough for the largest body over a slow connection. */
export const requestMilliseconds = 60_000;

/** Options of Node's server. Connections that send nothing count as slow, too. */
export function timeouts({ headSeconds = defaultHeadSeconds }: ConnectionLimits) {
  return { headersTimeout: headSeconds * 1000, connectionsCheckingInterval: Math.min(headSeconds * 500, 5_000) };
}

/** Closes connections beyond the limit of their address at once. */
export function limitConnections(server: Server, { connectionsPerAddress }: ConnectionLimits): void {
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    // From the edge, which counts the connections of its clients itself.
    if (socket.remoteAddress === undefined) return;
    const network = clientNetwork(socket.remoteAddress);
    const count = open.get(network) ?? 0;
    if (count >= connectionsPerAddress) return socket.destroy();
    open.set(network, count + 1);
    socket.once("close", () => {
      const left = (open.get(network) ?? 0) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
  });
}
