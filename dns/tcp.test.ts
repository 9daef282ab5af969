import { once } from "node:events";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { expect, test } from "vitest";
import { framed, openTcp, question, readAnswer } from "./testing/packets.ts";
import { startWith } from "./testing/withDns.ts";
import { blog, makeTable, shop } from "./testing/zones.ts";

const table = makeTable([shop, blog]);
const tcp = { connections: 50, connectionsOfOne: 20, idleSeconds: 20 };

test("many queries on one connection are answered in order, however their bytes are split", async () => {
  const { port } = await startWith(table);
  const { socket, messages, closed } = openTcp(port);
  const questions = Array.from({ length: 200 }, (_, id) =>
    framed(question(id % 2 ? "shop.example" : "blog.example", 1, { id })),
  );
  const bytes = Buffer.concat(questions);
  await once(socket, "connect");
  for (let at = 0; at < bytes.length; at += 1_001) socket.write(bytes.subarray(at, at + 1_001));
  // Queries are answered even after the client has closed its side.
  socket.end();
  await closed;
  expect(messages().map((message) => readAnswer(message).id)).toEqual(questions.map((_, id) => id));
});

test("a connection without a complete query is closed", async () => {
  const { port } = await startWith(table, { tcp: { ...tcp, idleSeconds: 0.2 } });
  const [slow, silent] = [openTcp(port), openTcp(port)];
  slow.socket.write(framed(question("shop.example", 1)).subarray(0, 9));
  await Promise.all([slow.closed, silent.closed]);
  expect(slow.messages()).toEqual([]);
});

test("a client that sends queries but reads nothing is disconnected", async () => {
  const { port } = await startWith(table, { tcp: { ...tcp, idleSeconds: 0.5 } });
  const { socket } = openTcp(port);
  socket.pause();
  const many = Buffer.concat(Array.from({ length: 500 }, () => framed(question("big.blog.example", 16))));
  const refused = new Promise((resolve) => socket.on("error", resolve));
  const write = (): void => {
    if (!socket.destroyed) socket.write(many, () => setImmediate(write));
  };
  write();
  // The error of writing to a closed connection.
  expect(await refused).toMatchObject({ code: expect.stringMatching(/ECONNRESET|EPIPE/) });
  expect(socket.bytesWritten).toBeLessThan(100_000_000);
});

test("a query that is too long ends the connection", async () => {
  const { port } = await startWith(table);
  const { socket, closed } = openTcp(port);
  socket.write(Buffer.from([0xff, 0xff, 0, 0]));
  await closed;
});

test("connections are limited per network, and a closed one makes room", async () => {
  const { port } = await startWith(table, { tcp: { ...tcp, connectionsOfOne: 2 } });
  const first = [openTcp(port), openTcp(port)];
  const ask = async ({ socket, messages }: ReturnType<typeof openTcp>) => {
    socket.write(framed(question("shop.example", 1)));
    await eventually(() => expect(messages()).toHaveLength(1));
  };
  for (const one of first) await ask(one);
  await openTcp(port).closed;
  first[0]?.socket.destroy();
  await eventually(async () => {
    const another = openTcp(port);
    another.socket.write(framed(question("shop.example", 1)));
    await Promise.race([another.closed, once(another.socket, "data")]);
    expect(another.messages()).toHaveLength(1);
  });
});

test("connections are limited in total", async () => {
  const { port } = await startWith(table, { tcp: { ...tcp, connections: 1 } });
  const first = openTcp(port);
  first.socket.write(framed(question("shop.example", 1)));
  await eventually(() => expect(first.messages()).toHaveLength(1));
  await openTcp(port).closed;
});
