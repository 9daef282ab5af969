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
  test("is valid if the clocks differ by at most 300 seconds", () => {
    expect(check(signed())).toMatchObject({ isValid: true });
    expect(check(signed(), now + 300)).toMatchObject({ isValid: true });
    expect(check(signed(), now - 300)).toMatchObject({ isValid: true });
    expect(check(signed(), now + 301)).toMatchObject({ isValid: false, error: 18, key });
    expect(check(signed(), now - 301)).toMatchObject({ isValid: false, error: 18, key });
  });

  test("covers every byte of the message and of the signed fields", () => {
    const packet = signed();
    const end = queryOf(packet).tsig?.start ?? 0;
    for (let at = 12; at < end; at += 1) {
      const changed = Buffer.from(packet);
      changed[at] = (changed[at] ?? 0) ^ 0x01;
      const read = readPacket(changed);
      if (read.kind === "query") expect(check(changed)).toMatchObject({ isValid: false });
    }
  });

  test("with a truncated MAC is invalid", () => {
    const query = queryOf(signed());
    if (query.tsig === null) throw new Error("Not signed");
    for (const length of [0, 10, 16, 31]) {
      const tsig = { ...query.tsig, mac: query.tsig.mac.subarray(0, length) };
      expect(verify(query, tsig, keys, now)).toMatchObject({ isValid: false, error: 16 });
    }
  });

  test("with an algorithm other than the key's gets BADKEY", () => {
    const other = { ...key, algorithm: readName("hmac-sha512"), digest: "sha512" } as const;
    const packet = sign(question("shop.example", 6), { key: other, priorMac: null, isLater: false, now }).signed;
    expect(check(packet)).toMatchObject({ isValid: false, error: 17, key: null });
  });

  test("is checked with the original id, because a proxy may have changed the id", () => {
    const packet = signed();
    packet.writeUInt16BE(1, 0);
    expect(check(packet)).toMatchObject({ isValid: true });
  });

  test("must be the last record and occur once", () => {
    const packet = signed();
    const record = packet.subarray(queryOf(packet).tsig?.start);
    const twice = Buffer.concat([packet, record]);
    twice.writeUInt16BE(2, 10);
    expect(readPacket(twice).kind).toBe("malformed");
  });

  test("with a wrong time gets a signed response with the right time", () => {
    const query = queryOf(signed(now - 1_000));
    const verified = query.tsig === null ? null : verify(query, query.tsig, keys, now);
    if (query.tsig === null || verified === null || verified.isValid)
      throw new Error("The signature should be invalid");
    const answer = signFailure(question("shop.example", 6), query.tsig, verified, now);
    const tsig = queryOf(answer).tsig;
    expect(tsig).toMatchObject({ error: 18, signedAt: now - 1_000 });
    expect(tsig?.mac).toHaveLength(32);
    expect(answer.readUIntBE(answer.length - 6, 6)).toBe(now);
  });
});
