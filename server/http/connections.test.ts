import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { startTestServer } from "./testing/server.ts";

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
  await using limited = await startTestServer({ limits: { connectionsPerAddress: 3 } });
  const port = await limited.listen();
  const [first, ...others] = await Promise.all([open(port), open(port), open(port)]);
  await ended(await open(port, `${head}\r\n`));
  first.destroy();
  const answers = async () =>
    fetch(`http://127.0.0.1:${port}/v2/validate`).then(
      ({ status }) => status,
      () => null,
    );
  await expect.poll(answers).toBe(401);
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

/** Resolves when the server has ended the connection. */
function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("end", resolve).once("close", () => resolve()));
}

function openConnections(server: { getConnections(done: (error: Error | null, count: number) => void): unknown }) {
  return new Promise<number>((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}
