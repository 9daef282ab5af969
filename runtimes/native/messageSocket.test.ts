/** What a site's code can send to its socket for messages. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openMessageSocket } from "./messageSocket.ts";

/** Opens a socket that answers each message with its length. */
async function open() {
  const folder = await mkdtemp(path.join(tmpdir(), "messages-"));
  const file = path.join(folder, "0");
  const received: string[] = [];
  const socket = await openMessageSocket(file);
  socket.setReceiver(async (message) => {
    received.push(message);
    return String(message.length);
  });
  const connect = (): Socket => {
    const connection = createConnection(file).on("error", () => undefined);
    onTestFinished(() => void connection.destroy());
    return connection;
  };
  onTestFinished(async () => {
    socket.close();
    await rm(folder, { recursive: true });
  });
  return { received, connect, setReceiver: socket.setReceiver };
}

function length(bytes: number): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(bytes);
  return prefix;
}

const framed = (text: string) => Buffer.concat([length(Buffer.byteLength(text)), Buffer.from(text)]);

/** Reads the answer to a message. */
async function answerOf(connection: Socket): Promise<string> {
  const [answer] = await once(connection, "data");
  return answer.toString("utf8", 4);
}

/** Resolves when the server has closed the connection. */
const closed = (connection: Socket) => once(connection.resume(), "close");

test("a message is answered, however it is cut", async () => {
  const { connect, received } = await open();
  const connection = connect().setNoDelay();
  for (const byte of framed("hëllo")) {
    connection.write(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  expect(await answerOf(connection)).toBe("5");
  connection.write(framed(""));
  expect(await answerOf(connection)).toBe("0");
  expect(received).toEqual(["hëllo", ""]);
});

test("half a length and half a message are ignored when the connection ends", async () => {
  const { connect, received } = await open();
  for (const bytes of [length(7).subarray(0, 2), Buffer.concat([length(7), Buffer.from("mess")])])
    await closed(connect().end(bytes));
  expect(received).toEqual([]);
});

test("a message that is longer than announced, and one of 3 GB, end the connection", async () => {
  const { connect, received } = await open();
  for (const bytes of [length(3_000_000_000), Buffer.concat([framed("one"), Buffer.from("two")])]) {
    const connection = connect();
    connection.write(bytes);
    await closed(connection);
  }
  expect(received).toEqual([]);
});

test("unfinished messages together have as much memory as one, and give it back", async () => {
  const { connect } = await open();
  const [first, second] = [connect(), connect()];
  first.write(length(30 << 20));
  await once(first, "ready");
  second.write(length(30 << 20));
  await Promise.race([closed(first), closed(second)]);
  first.destroy();
  second.destroy();
  await expect
    .poll(async () => {
      const third = connect();
      third.write(framed("x".repeat(30 << 20)));
      return Promise.race([answerOf(third), closed(third).then(() => "refused")]);
    })
    .toBe(String(30 << 20));
});

test("of many connections a few stay open, and the next one is served when they are gone", async () => {
  const { connect } = await open();
  const connections = Array.from({ length: 1_000 }, connect);
  let count = connections.length;
  for (const connection of connections) connection.resume().once("close", () => (count -= 1));
  await expect.poll(() => count).toBe(16);
  for (const connection of connections) connection.destroy();
  await expect
    .poll(async () => {
      const next = connect();
      next.write(framed("hello"));
      return Promise.race([answerOf(next), closed(next).then(() => "refused")]);
    })
    .toBe("5");
});

test("a connection is not read while its message waits for the answer", async () => {
  const { connect, received, setReceiver } = await open();
  const stored = Promise.withResolvers<void>();
  setReceiver(async (message) => {
    received.push(message);
    if (message === "mail") await stored.promise;
    return "answered";
  });
  const [connection, other] = [connect(), connect()];
  connection.write(framed("mail"));
  await expect.poll(() => received).toEqual(["mail"]);
  connection.write(framed("more"));
  for (const message of ["other", "another"]) {
    other.write(framed(message));
    expect(await answerOf(other)).toBe("answered");
  }
  expect(received).toEqual(["mail", "other", "another"]);
  stored.resolve();
  await expect.poll(() => received).toContain("more");
});
