import { once } from "node:events";
import { createServer } from "node:net";
import { connect, type SecureVersion } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { firstRecordBytes, offersTls13 } from "./clientHello.ts";

/** The first message of a client that supports TLS up to this version. */
async function helloOf(maxVersion: SecureVersion): Promise<Buffer> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const client = connect({ host: "127.0.0.1", port, servername: "site.localhost", maxVersion });
  client.on("error", () => undefined);
  const [socket] = await once(server, "connection");
  const [hello] = await once(socket, "data");
  client.destroy();
  socket.destroy();
  return hello;
}

test("TLS 1.3 is found in the offer of a client, and not in that of an older one", async () => {
  expect(offersTls13(await helloOf("TLSv1.3"))).toBe(true);
  expect(offersTls13(await helloOf("TLSv1.2"))).toBe(false);
});

test("a message that is cut off at any byte, or whose bytes are all the same, is read without an error", async () => {
  const hello = await helloOf("TLSv1.3");
  for (let length = 0; length < hello.length; length += 1) {
    expect(typeof offersTls13(hello.subarray(0, length))).toBe("boolean");
  }
  for (const byte of [0, 1, 43, 127, 255]) expect(offersTls13(Buffer.alloc(2_000, byte))).toBe(false);
});

test("the first record is waited for, and nothing that is no handshake or longer than a record can be", async () => {
  const hello = await helloOf("TLSv1.3");
  expect([1, 4, 5, hello.length].map((length) => firstRecordBytes(hello.subarray(0, length)))).toEqual([
    5,
    5,
    hello.length,
    hello.length,
  ]);
  expect(firstRecordBytes(Buffer.from("GET / HTTP/1.1"))).toBe(1);
  expect(firstRecordBytes(Buffer.from([22, 3, 1, 255, 255]))).toBe(5);
});
