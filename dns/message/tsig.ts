/** Message signatures with a shared secret (TSIG, RFC 8945). */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Key } from "../keys.ts";
import type { Name } from "../names.ts";
import { codes } from "../records/recordTypes.ts";
import { nameBytes, uint16 } from "../records/wire.ts";
import type { Query, Tsig } from "./readPacket.ts";

const tsigErrors = { BADSIG: 16, BADKEY: 17, BADTIME: 18 } as const;

/** Maximum difference of the two clocks. */
const fudgeSeconds = 300;
const classAny = 255;

type Verified =
  | { readonly isValid: true; readonly key: Key }
  | { readonly isValid: false; readonly error: number; readonly key: Key | null };

/** `now` in seconds since 1970. */
export function verify({ packet }: Query, tsig: Tsig, keys: ReadonlyMap<Name, Key>, now: number): Verified {
  const key = keys.get(tsig.key);
  if (key === undefined || key.algorithm !== tsig.algorithm) {
    return { isValid: false, error: tsigErrors.BADKEY, key: null };
  }
  const unsigned = Buffer.from(packet.subarray(0, tsig.start));
  unsigned.writeUInt16BE(tsig.originalId, 0);
  unsigned.writeUInt16BE(unsigned.readUInt16BE(10) - 1, 10);
  const { signedAt, fudge, error } = tsig;
  // Requests have no "other data".
  const expected = macOf(key, [unsigned, variables(key, { signedAt, fudge, error, other: Buffer.alloc(0) })]);
  if (expected.length !== tsig.mac.length || !timingSafeEqual(expected, tsig.mac)) {
    return { isValid: false, error: tsigErrors.BADSIG, key: null };
  }
  if (Math.abs(now - signedAt) > fudge) return { isValid: false, error: tsigErrors.BADTIME, key };
  return { isValid: true, key };
}

interface Signature {
  readonly key: Key;
  /** MAC of the request, or of the previous message of a transfer. Null for our own requests. */
  readonly priorMac: Buffer | null;
  /** Whether this is a later message of a transfer. */
  readonly isLater: boolean;
  readonly now: number;
}

/** Signs a message. Returns it with its MAC, which the next message of a transfer needs. */
export function sign(message: Buffer, { key, priorMac, isLater, now }: Signature): { signed: Buffer; mac: Buffer } {
  const facts = { signedAt: now, fudge: fudgeSeconds, error: 0, other: Buffer.alloc(0) };
  const prior = priorMac === null ? [] : [uint16(priorMac.length), priorMac];
  const mac = macOf(key, [...prior, message, isLater ? timers(facts) : variables(key, facts)]);
  return { signed: appendTsig(message, key, facts, mac), mac };
}

/** Adds the TSIG error to the response to an invalid signature. It is signed only if the error is BADTIME. */
export function signFailure(
  message: Buffer,
  tsig: Tsig,
  { error, key }: Verified & { isValid: false },
  now: number,
): Buffer {
  const names = { name: tsig.key, algorithm: tsig.algorithm };
  if (key === null) {
    const facts = { signedAt: tsig.signedAt, fudge: tsig.fudge, error, other: Buffer.alloc(0) };
    return appendTsig(message, names, facts, Buffer.alloc(0));
  }
  const other = Buffer.alloc(6);
  other.writeUIntBE(now, 0, 6);
  const facts = { signedAt: tsig.signedAt, fudge: tsig.fudge, error, other };
  const mac = macOf(key, [uint16(tsig.mac.length), tsig.mac, message, variables(key, facts)]);
  return appendTsig(message, names, facts, mac);
}

/** Maximum size of a signature. */
export function tsigBytes({ key, algorithm }: Pick<Tsig, "key" | "algorithm">): number {
  return key.length + algorithm.length + 2 + 10 + 16 + 64 + 6;
}

interface TsigFields {
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

function timers({ signedAt, fudge }: TsigFields): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUIntBE(signedAt, 0, 6);
  bytes.writeUInt16BE(fudge, 6);
  return bytes;
}

function variables({ name, algorithm }: Pick<Key, "name" | "algorithm">, facts: TsigFields): Buffer {
  const classAndTtl = Buffer.from([0, classAny, 0, 0, 0, 0]);
  const { error, other } = facts;
  const last = [uint16(error), uint16(other.length), other];
  return Buffer.concat([nameBytes(name), classAndTtl, nameBytes(algorithm), timers(facts), ...last]);
}

function appendTsig(
  message: Buffer,
  { name, algorithm }: Pick<Key, "name" | "algorithm">,
  facts: TsigFields,
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
