/** Ports for programs that can't choose one themselves. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { listenOnBoth } from "../sockets.ts";

/**
 * A port of 127.0.0.1 that is free for UDP and TCP. It is outside the range from which the system takes ports for
 * outgoing connections: one of those could get it before the program listens.
 */
export async function freePort(): Promise<number> {
  const server = createServer();
  const socket = await listenOnBoth(server, "127.0.0.1", randomInt(20_000, 32_000)).catch(() => null);
  if (socket === null) return freePort();
  const { port } = socket.address();
  socket.close();
  server.close();
  await once(server, "close");
  return port;
}
