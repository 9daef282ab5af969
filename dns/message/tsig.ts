/** Signatures with a secret that both sides have (RFC 8945). */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Key } from "../keys.ts";
import type { Name } from "../names.ts";
import { codes } from "../records/recordTypes.ts";
import { nameBytes } from "../records/wire.ts";
import type { Query, Tsig } from "./readPacket.ts";

export const tsigErrors = { BADSIG: 16, BADKEY: 17, BADTIME: 18 } as const;

/** Seconds by which the two clocks may differ. */
const fudgeSeconds = 300;
const classAny = 255;

export type Verified =
  | { readonly isGood: true; readonly key: Key }
  | { readonly isGood: false; readonly error: number; readonly key: Key | null };

/** `now` in seconds since 1970. */
export function verify({ packet }: Query, tsig: Tsig, keys: ReadonlyMap<Name, Key>, now: number): Verified {
  const key = keys.get(tsig.key);
  if (key === undefined || key.algorithm !== tsig.algorithm) {
    return { isGood: false, error: tsigErrors.BADKEY, key: null };
  }
  const unsigned = Buffer.from(packet.subarray(0, tsig.start));
  unsigned.writeUInt16BE(tsig.originalId, 0);
  unsigned.writeUInt16BE(unsigned.readUInt16BE(10) - 1, 10);
  const { signedAt, fudge, error } = tsig;
  // A request has no other data.
  const expected = macOf(key, [unsigned, variables(key, { signedAt, fudge, error, other: Buffer.alloc(0) })]);
  if (expected.length !== tsig.mac.length || !timingSafeEqual(expected, tsig.mac)) {
    return { isGood: false, error: tsigErrors.BADSIG, key: null };
  }
  if (Math.abs(now - signedAt) > fudge) return { isGood: false, error: tsigErrors.BADTIME, key };
  return { isGood: true, key };
}

export interface Signature {
  readonly key: Key;
  /** Of the request, or of the message before. Null for a request of our own. */
  readonly priorMac: Buffer | null;
  /** Of a transfer, a message behind the first. */
  readonly isLater: boolean;
  readonly now: number;
}

/** The message with its signature, and the signature alone for the next one. */
export function sign(message: Buffer, { key, priorMac, isLater, now }: Signature): { signed: Buffer; mac: Buffer } {
  const facts = { signedAt: now, fudge: fudgeSeconds, error: 0, other: Buffer.alloc(0) };
  const prior = priorMac === null ? [] : [uint16(priorMac.length), priorMac];
  const mac = macOf(key, [...prior, message, isLater ? timers(facts) : variables(key, facts)]);
  return { signed: attach(message, key, facts, mac), mac };
}

/** An answer to a signature that is not good. Only where the clocks differ is it signed itself. */
export function signFailure(
  message: Buffer,
  tsig: Tsig,
  { error, key }: Verified & { isGood: false },
  now: number,
): Buffer {
  const names = { name: tsig.key, algorithm: tsig.algorithm };
  if (key === null) {
    const facts = { signedAt: tsig.signedAt, fudge: tsig.fudge, error, other: Buffer.alloc(0) };
    return attach(message, names, facts, Buffer.alloc(0));
  }
  const other = Buffer.alloc(6);
  other.writeUIntBE(now, 0, 6);
  const facts = { signedAt: tsig.signedAt, fudge: tsig.fudge, error, other };
  const mac = macOf(key, [uint16(tsig.mac.length), tsig.mac, message, variables(key, facts)]);
  return attach(message, names, facts, mac);
}

/** By how much a signature makes a message longer, at most. */
export function tsigBytes({ key, algorithm }: Pick<Tsig, "key" | "algorithm">): number {
  return key.length + algorithm.length + 2 + 10 + 16 + 64 + 6;
}

interface Facts {
  readonly signedAt: number;
  readonly fudge: number;
  readonly error: number;
  readonly other: Buffer;
}

function macOf({ digest, secret }: Key, parts: readonly Buffer[]): Buffer {
  const hmac = createHmac(digest, secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

function timers({ signedAt, fudge }: Facts): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUIntBE(signedAt, 0, 6);
  bytes.writeUInt16BE(fudge, 6);
  return bytes;
}

function variables({ name, algorithm }: Pick<Key, "name" | "algorithm">, facts: Facts): Buffer {
  const classAndTtl = Buffer.from([0, classAny, 0, 0, 0, 0]);
  const { error, other } = facts;
  const last = [uint16(error), uint16(other.length), other];
  return Buffer.concat([nameBytes(name), classAndTtl, nameBytes(algorithm), timers(facts), ...last]);
}

function attach(
  message: Buffer,
  { name, algorithm }: Pick<Key, "name" | "algorithm">,
  facts: Facts,
  mac: Buffer,
): Buffer {
  const { error, other } = facts;
  const id = message.subarray(0, 2);
  const data = [nameBytes(algorithm), timers(facts), uint16(mac.length), mac, id, uint16(error)];
  const rdata = Buffer.concat([...data, uint16(other.length), other]);
  const head = [nameBytes(name), uint16(codes.TSIG), uint16(classAny), Buffer.alloc(4), uint16(rdata.length)];
  const signed = Buffer.concat([message, ...head, rdata]);
  signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10);
  return signed;
}

function uint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}
