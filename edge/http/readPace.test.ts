import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { promisify } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { createNetworkPace } from "./networkPace.ts";
import { paceReads } from "./readPace.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Like a parser that needs 3 µs for each piece of a body on the slowest machine. */
function spin(): void {
  const end = performance.now() + 0.003;
  while (performance.now() < end);
}

/**
 * A server that reads the body at once, or when `reads` is resolved, and answers with it. Its pauses last until the test ends them. Without
 * `nameOf`, each connection has a network of its own.
 */
async function startServer(
  reads: Promise<void> | null = null,
  nameOf: (socket: Socket) => string = ({ remotePort }) => String(remotePort),
) {
  const pauses: (() => void)[] = [];
  let pieces = 0;
  const pace = createNetworkPace(() => new Promise<void>((end) => pauses.push(end)));
  const server = createServer(async (request, response) => {
    if (reads !== null) await reads;
    let body = "";
    request
      .setEncoding("latin1")
      .on("data", (piece: string) => {
        pieces += 1;
        body += piece;
        spin();
      })
      .once("end", () => response.end(body));
  });
  paceReads(server, pace, nameOf);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  const leave = () => {
    for (const socket of sockets) socket.destroy();
  };
  ends.push(() => {
    leave();
    server.close();
  });
  return {
    pauses,
    pieces: () => pieces,
    leave,
    /** Resolves when the server has received everything that it takes before it reads a body. */
    written: () => vi.waitFor(() => expect(sockets.every(({ writableLength }) => writableLength === 0)).toBe(true)),
    /** The number of open connections. */
    open: () => promisify(server.getConnections.bind(server))(),
    /** Sends text on a new connection. Returns a function that returns everything received so far. */
    send(sent: string): (() => string) & { readonly write: (text: string) => void } {
      const socket = connect(port, "127.0.0.1").setEncoding("utf8");
      sockets.push(socket);
      let received = "";
      socket.on("data", (chunk) => {
        received += chunk;
      });
      socket.write(sent);
      return Object.assign(() => received, { write: (text: string) => void socket.write(text) });
    },
  };
}

const head = "POST / HTTP/1.1\r\nHost: site\r\n";
const inPieces = (count: number) => `${head}Transfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(count)}0\r\n\r\n`;
const whole = (count: number) => `${head}Content-Length: ${count}\r\n\r\n${"x".repeat(count)}`;

test("a network whose body takes long to parse pauses after a slice, and then goes on until all has been received", async () => {
  const { pauses, pieces, send } = await startServer();
  const received = send(inPieces(5_000));
  await vi.waitFor(() => expect(pauses).toHaveLength(1));
  expect(pieces()).toBeLessThan(700);
  const other = send(whole(10));
  await vi.waitFor(() => expect(other()).toMatch(/x{10}$/));
  expect(pieces()).toBeLessThan(702);
  for (let ended = 0; received() === ""; ended += 1) {
    await vi.waitFor(() => expect(pauses.length > ended || received() !== "").toBe(true));
    pauses[ended]?.();
  }
  await vi.waitFor(() => expect(received()).toMatch(/x{5000}$/));
  expect(pieces()).toBe(5_001);
  expect(pauses.length).toBeGreaterThan(5);
});

test("all connections of a trusted network are read in slices from its first chunked body on", async () => {
  const { pauses, pieces, send } = await startServer(null, () => "one");
  const first = send(whole(10));
  await vi.waitFor(() => expect(first()).toMatch(/x{10}$/));
  // These two are opened while the network is trusted.
  const idle = send("");
  const other = send(whole(20));
  await vi.waitFor(() => expect(other()).toMatch(/x{20}$/));
  const chunked = send(inPieces(1));
  await vi.waitFor(() => expect(chunked()).toMatch(/x$/));
  const before = pieces();
  idle.write(inPieces(5_000));
  await vi.waitFor(() => expect(pauses).toHaveLength(1));
  expect(pieces() - before).toBeLessThan(700);
  await vi.waitFor(() => {
    for (const end of pauses.splice(0)) end();
    expect(idle()).toMatch(/x{5000}$/);
  });
});

test("large bodies in large pieces, and of known length, are hardly ever paused", async () => {
  const { pauses, send } = await startServer();
  const chunk = `${(50_000).toString(16)}\r\n${"x".repeat(50_000)}\r\n`;
  const chunked = send(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(20)}0\r\n\r\n`);
  const plain = send(whole(1_000_000) + whole(10));
  let count = 0;
  await vi.waitFor(() => {
    // The system may stop this process at any time, so that a slice takes long. There are about 300.
    for (const end of pauses.splice(0)) {
      count += 1;
      end();
    }
    expect(chunked().length).toBeGreaterThan(1_000_000);
    expect(plain().length).toBeGreaterThan(1_000_010);
  });
  expect(count).toBeLessThan(30);
});

test("pieces that arrive before a body is read are not parsed in one go when it is", async () => {
  const { promise, resolve: read } = Promise.withResolvers<void>();
  const { pauses, pieces, send, written } = await startServer(promise);
  const large = `${(70_000).toString(16)}\r\n${"x".repeat(70_000)}\r\n`;
  send(`${head}Transfer-Encoding: chunked\r\n\r\n${large}${"1\r\nx\r\n".repeat(5_000)}`);
  await written();
  read();
  await vi.waitFor(() => expect(pauses.length).toBeGreaterThan(0));
  expect(pieces()).toBeLessThan(800);
});

test("a client that expects 100 Continue gets it", async () => {
  const { send } = await startServer();
  const received = send(`${head}Expect: 100-continue\r\nContent-Length: 1\r\n\r\n`);
  await vi.waitFor(() => expect(received()).toContain("100 Continue"));
});

test("a connection ends with the rest of its body if the client leaves during a pause", async () => {
  const { pauses, open, leave, send } = await startServer();
  send(inPieces(5_000));
  await vi.waitFor(() => expect(pauses).toHaveLength(1));
  leave();
  await vi.waitFor(async () => {
    for (const end of pauses.splice(0)) end();
    expect(await open()).toBe(0);
  });
});
