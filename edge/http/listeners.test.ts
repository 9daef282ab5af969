import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { listenWidely, stopListening } from "./listeners.ts";

const host = "127.0.0.1";
const opened: Server[] = [];
const clients: Socket[] = [];

async function listening(server: Server, port = 0): Promise<number> {
  opened.push(server);
  await listenWidely(server, { host, port });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return address.port;
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ host, port });
  clients.push(socket);
  await once(socket, "connect");
  return socket;
}

afterEach(async () => {
  for (const socket of clients.splice(0)) socket.destroy();
  await Promise.all(opened.splice(0).map(stopListening));
});

test("all connections reach the server, whichever socket accepts them", async () => {
  const server = createHttpServer((_, response) => response.end("hello"));
  const port = await listening(server);
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => fetch(`http://${host}:${port}/`).then((answer) => answer.text())),
  );
  expect(answers).toEqual(Array(100).fill("hello"));
});

test("many connections are accepted in a round of the event loop", async () => {
  const accepted = new Set<Socket>();
  const server = createServer((socket) => accepted.add(socket.on("error", () => undefined)));
  const port = await listening(server);
  let mostInOneRound = 0;
  const count = () => {
    const before = accepted.size;
    setImmediate(() => {
      mostInOneRound = Math.max(mostInOneRound, accepted.size - before);
      if (accepted.size < 64) count();
    });
  };
  count();
  await Promise.all(Array.from({ length: 64 }, () => connected(port)));
  await expect.poll(() => accepted.size).toBe(64);
  expect(mostInOneRound).toBeGreaterThan(process.platform === "linux" ? 1 : 0);
});

test("a connection that sends nothing is closed, whichever socket accepted it", async () => {
  const server = createHttpServer({ headersTimeout: 200, connectionsCheckingInterval: 100 });
  const sockets = await listening(server).then((port) =>
    Promise.all(Array.from({ length: 40 }, () => connected(port))),
  );
  for (const socket of sockets) socket.resume().write("GET / HTTP/1.1\r\n");
  await Promise.all(sockets.map((socket) => once(socket, "close")));
});

test("all connections can be closed, whichever socket accepted them", async () => {
  const server = createHttpServer();
  const accepted = new Set<Socket>();
  server.on("connection", (socket) => accepted.add(socket));
  const port = await listening(server);
  const sockets = await Promise.all(Array.from({ length: 40 }, () => connected(port)));
  await expect.poll(() => accepted.size).toBe(40);
  const closed = sockets.map((socket) => once(socket.resume(), "close"));
  const stopped = stopListening(server);
  server.closeAllConnections();
  await Promise.all([stopped, ...closed]);
});

test("a port that another such server uses is refused", async () => {
  const port = await listening(createServer());
  await expect(listening(createServer(), port)).rejects.toThrow("EADDRINUSE");
});

test("after closing, nothing accepts connections, and the port is free", async () => {
  const server = createServer();
  const port = await listening(server);
  await stopListening(server);
  await expect(connected(port)).rejects.toThrow("ECONNREFUSED");
  expect(await listening(createServer(), port)).toBe(port);
});
