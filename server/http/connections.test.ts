import { once } from "node:events";
import { connect, createServer, type Server, Socket } from "node:net";
import { noProxies } from "@sitewright/edge/http/trustedProxies.ts";
import { expect, onTestFinished, test } from "vitest";
import { limitConnections } from "./connections.ts";
import { trustProxies } from "./edgeSocket.ts";
import { startTestServer } from "./testing/server.ts";

const client = "192.0.2.1";
const head = "GET /v2/validate HTTP/1.1\r\nHost: x\r\n";

async function open(port: number, bytes = ""): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined).resume();
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

test("an address has a limited number of open connections", async () => {
  const server = createServer();
  limitConnections(server, { connectionsPerAddress: 2 }, trustProxies(noProxies));
  const [first, second, third] = [
    connectFrom(server, client),
    connectFrom(server, client),
    connectFrom(server, client),
  ];
  expect([first, second, third].map(({ destroyed }) => destroyed)).toEqual([false, false, true]);
  expect(connectFrom(server, "198.51.100.1").destroyed).toBe(false);
  first.destroy();
  await once(first, "close");
  expect(connectFrom(server, client).destroyed).toBe(false);
});

/** Connects as from another machine. */
function connectFrom(server: Server, address: string): Socket {
  const socket = new Socket();
  Object.defineProperty(socket, "remoteAddress", { value: address });
  server.emit("connection", socket);
  return socket;
}

test("clients of a proxy on this machine have a limited number of open requests each, and it has no limit", async () => {
  await using limited = await startTestServer({ limits: { connectionsPerAddress: 2 } });
  const port = await limited.listen();
  /** The body is missing. */
  const unfinished = [
    "POST /v2/sites HTTP/1.1",
    "Host: x",
    `Authorization: Bearer ${limited.company.api_key}`,
    `X-Forwarded-For: ${client}`,
    "Content-Type: application/json",
    "Content-Length: 100",
    "",
    "",
  ].join("\r\n");
  const [first, ...others] = await Promise.all([
    open(port, unfinished),
    open(port, unfinished),
    open(port),
    open(port),
  ]);
  const ask = (address: string) =>
    fetch(`http://127.0.0.1:${port}/v2/validate`, { headers: { "x-forwarded-for": address } });
  await expect.poll(async () => (await ask(client)).status).toBe(429);
  expect((await ask(client)).headers.get("retry-after")).toBe("1");
  expect((await ask("198.51.100.1")).status).toBe(401);
  first.destroy();
  await expect.poll(async () => (await ask(client)).status).toBe(401);
  for (const socket of others) socket.destroy();
});

test.each([
  ["nothing", ""],
  ["half of a head", head],
])("a connection that sends %s is closed, even if the client keeps its half open", async (_, bytes) => {
  await using impatient = await startTestServer({ limits: { headSeconds: 0.2 } });
  const port = await impatient.listen();
  await ended(await open(port, bytes));
  await expect.poll(() => openConnections(impatient.server.server)).toBe(0);
});

test.each([
  ["nothing", ""],
  ["half of a head", head],
  ["a request, and half of the next head", `${head}\r\n${head}`],
])("a server that stops does not wait for a connection that has sent %s", async (_, bytes) => {
  await using stopping = await startTestServer();
  const client = await open(await stopping.listen());
  const answered = once(client, "data");
  client.write(bytes);
  if (bytes.includes("\r\n\r\n")) await answered;
  await expect.poll(() => openConnections(stopping.server.server)).toBe(1);
  await stopping.server.close();
  expect(await openConnections(stopping.server.server)).toBe(0);
});

/** Resolves when the server has ended the connection. */
function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("end", resolve).once("close", () => resolve()));
}

function openConnections(server: { getConnections(done: (error: Error | null, count: number) => void): unknown }) {
  return new Promise<number>((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}
