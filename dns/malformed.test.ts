import { createSocket } from "node:dgram";
import { once } from "node:events";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { describe, expect, test } from "vitest";
import { readPacket } from "./message/readPacket.ts";
import { udpLimit } from "./message/reply.ts";
import { createRateLimit } from "./rateLimit.ts";
import { createResponder } from "./respond.ts";
import { createServed } from "./served.ts";
import { askUdp, framed, openTcp, question, readAnswer } from "./testing/packets.ts";
import { createRandomIntegers } from "./testing/random.ts";
import { startWith } from "./testing/withDns.ts";
import { blog, makeTable, shop, written } from "./testing/zones.ts";

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const names = [
  "shop.example",
  "big.blog.example",
  "x.any.shop.example",
  "lab.shop.example",
  "no.example",
  `${"long-label-of-many-letters.".repeat(8)}shop.example`,
  ".",
];

/** Adds an invalid signature whose key name is a pointer to the question, with a long algorithm name. */
function withInvalidSignature(packet: Buffer, random: (limit: number) => number): Buffer {
  const label = Buffer.from([63, ...Buffer.alloc(63, "a")]);
  const algorithm = Buffer.concat([...Array.from({ length: random(4) }, () => label), Buffer.of(0)]);
  const rdata = Buffer.concat([algorithm, Buffer.alloc(16)]);
  const head = Buffer.from([0xc0, 12, 0, 250, 0, 255, 0, 0, 0, 0, rdata.length >> 8, rdata.length & 255]);
  const signed = Buffer.concat([packet, head, rdata]);
  signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10);
  return signed;
}

/** A packet that is slightly damaged or completely random. */
function malformed(random: (limit: number) => number): Buffer {
  if (random(4) === 0) return Buffer.from(Array.from({ length: random(600) }, () => random(256)));
  const name = names[random(names.length)] ?? ".";
  let packet = question(name, random(300), random(2) === 0 ? {} : { udpSize: random(65_536), ednsVersion: random(2) });
  if (random(4) === 0) packet = withInvalidSignature(packet, random);
  if (random(3) === 0) packet = packet.subarray(0, random(packet.length + 1));
  if (random(4) === 0) packet = Buffer.concat([packet, packet.subarray(random(packet.length + 1))]);
  for (let changes = random(6); changes > 0 && packet.length > 0; changes -= 1) {
    packet[random(packet.length)] = [0, 1, 12, 63, 64, 0xc0, 0xff, random(256)][random(8)] ?? 0;
  }
  return packet;
}

describe("10,000 malformed packets", () => {
  test("get only well-formed responses that are not too long for the client", () => {
    const served = createServed(
      (_name, sealed) => sealed,
      log,
      () => undefined,
    );
    served.set(written(makeTable([shop, blog])));
    const { overUdp, overTcp } = createResponder(served, createRateLimit(0));
    const random = createRandomIntegers(4_711);
    let answered = 0;
    for (let round = 0; round < 10_000; round += 1) {
      const packet = malformed(random);
      const read = readPacket(packet);
      const limit = read.kind === "query" ? udpLimit(read.query) : 12;
      const answer = overUdp(Buffer.from(packet), "192.0.2.1");
      expect(answer === null).toBe(read.kind === "ignored");
      if (answer === null) continue;
      answered += 1;
      expect(answer.length).toBeLessThanOrEqual(limit);
      expect(readAnswer(answer).id).toBe(packet.readUInt16BE(0));
      for (const message of overTcp(packet, "192.0.2.1")) readAnswer(message);
    }
    expect(answered).toBeGreaterThan(3_000);
  });

  test("don't affect later queries over UDP and TCP", async () => {
    const dns = await startWith(makeTable([shop, blog]));
    const random = createRandomIntegers(31);
    const socket = createSocket("udp4");
    for (let round = 0; round < 10_000; round += 1) {
      socket.send(malformed(random), dns.port, "127.0.0.1");
      // Waits for a response so that the system's receive buffer doesn't overflow.
      if (round % 100 === 99) await askUdp(dns.port, question("shop.example", 1));
    }
    socket.close();
    expect(readAnswer(await askUdp(dns.port, question("shop.example", 1))).answers).toHaveLength(2);
    for (let round = 0; round < 200; round += 1) {
      const { socket: connection, closed } = openTcp(dns.port);
      await once(connection, "connect");
      connection.end(random(2) === 0 ? malformed(random) : framed(malformed(random)));
      connection.resume();
      await closed;
    }
    const { socket: connection, messages } = openTcp(dns.port);
    connection.write(framed(question("shop.example", 1)));
    await eventually(() => expect(messages().map((message) => readAnswer(message).answers.length)).toEqual([2]));
    expect(dns.logged.filter(({ level }) => level === "error")).toEqual([]);
  });
});
