import { describe, expect, test } from "vitest";
import type { Key } from "../keys.ts";
import { readName } from "../names.ts";
import { question } from "../testing/packets.ts";
import { type Query, readPacket } from "./readPacket.ts";
import { sign, signFailure, verify } from "./tsig.ts";

const key: Key = {
  name: readName("k.example"),
  algorithm: readName("hmac-sha256"),
  digest: "sha256",
  secret: Buffer.from("a secret of a test"),
};
const keys = new Map([[key.name, key]]);
const now = 1_800_000_000;

function queryOf(packet: Buffer): Query {
  const read = readPacket(packet);
  if (read.kind !== "query") throw new Error(read.kind);
  return read.query;
}

const signed = (at = now): Buffer =>
  sign(question("shop.example", 6), { key, priorMac: null, isLater: false, now: at }).signed;

function check(packet: Buffer, at = now) {
  const query = queryOf(packet);
  return query.tsig === null ? null : verify(query, query.tsig, keys, at);
}

describe("a signature", () => {
  test("is good for so long as the clocks are about the same", () => {
    expect(check(signed())).toMatchObject({ isGood: true });
    expect(check(signed(), now + 300)).toMatchObject({ isGood: true });
    expect(check(signed(), now - 300)).toMatchObject({ isGood: true });
    expect(check(signed(), now + 301)).toMatchObject({ isGood: false, error: 18, key });
    expect(check(signed(), now - 301)).toMatchObject({ isGood: false, error: 18, key });
  });

  test("is over every byte of the question and of what was signed", () => {
    const packet = signed();
    const end = queryOf(packet).tsig?.start ?? 0;
    for (let at = 12; at < end; at += 1) {
      const changed = Buffer.from(packet);
      changed[at] = (changed[at] ?? 0) ^ 0x01;
      const read = readPacket(changed);
      if (read.kind === "query") expect(check(changed)).toMatchObject({ isGood: false });
    }
  });

  test("that is cut is not good", () => {
    const query = queryOf(signed());
    if (query.tsig === null) throw new Error("It is not signed");
    for (const length of [0, 10, 16, 31]) {
      const tsig = { ...query.tsig, mac: query.tsig.mac.subarray(0, length) };
      expect(verify(query, tsig, keys, now)).toMatchObject({ isGood: false, error: 16 });
    }
  });

  test("with another algorithm than the key's is one of an unknown key", () => {
    const other = { ...key, algorithm: readName("hmac-sha512"), digest: "sha512" } as const;
    const packet = sign(question("shop.example", 6), { key: other, priorMac: null, isLater: false, now }).signed;
    expect(check(packet)).toMatchObject({ isGood: false, error: 17, key: null });
  });

  test("was made for the number that it says, which somebody on the way may have changed", () => {
    const packet = signed();
    packet.writeUInt16BE(1, 0);
    expect(check(packet)).toMatchObject({ isGood: true });
  });

  test("must stand at the end, and once", () => {
    const packet = signed();
    const record = packet.subarray(queryOf(packet).tsig?.start);
    const twice = Buffer.concat([packet, record]);
    twice.writeUInt16BE(2, 10);
    expect(readPacket(twice).kind).toBe("malformed");
  });

  test("of a clock that is wrong is answered with the right time, signed", () => {
    const query = queryOf(signed(now - 1_000));
    const verified = query.tsig === null ? null : verify(query, query.tsig, keys, now);
    if (query.tsig === null || verified === null || verified.isGood) throw new Error("It should not be good");
    const answer = signFailure(question("shop.example", 6), query.tsig, verified, now);
    const tsig = queryOf(answer).tsig;
    expect(tsig).toMatchObject({ error: 18, signedAt: now - 1_000 });
    expect(tsig?.mac).toHaveLength(32);
    expect(answer.readUIntBE(answer.length - 6, 6)).toBe(now);
  });
});
