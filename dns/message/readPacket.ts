/**
 * Parses packets from the network. Never throws, and takes time bounded by the packet's length: nothing is read twice,
 * and each step moves forward.
 */
import type { Name } from "../names.ts";
import { codes } from "../records/recordTypes.ts";

export interface Edns {
  readonly version: number;
  /** The largest UDP response that the client accepts, in bytes. */
  readonly udpSize: number;
  readonly isDnssecOk: boolean;
}

export interface Tsig {
  /** Offset of its record. */
  readonly start: number;
  readonly key: Name;
  readonly algorithm: Name;
  /** Seconds since 1970. */
  readonly signedAt: number;
  readonly fudge: number;
  readonly mac: Buffer;
  readonly originalId: number;
  readonly error: number;
}

export interface Header {
  readonly id: number;
  /** The second 16 bits of the packet. */
  readonly flags: number;
}

export interface Query extends Header {
  readonly packet: Buffer;
  /** In lower case; the packet has the original spelling. */
  readonly name: Name;
  readonly type: number;
  readonly class: number;
  /** Offset of the end of the question, which follows the header. */
  readonly questionEnd: number;
  readonly edns: Edns | null;
  readonly tsig: Tsig | null;
  /** The serial of the client's copy of the zone, if it sent one. */
  readonly knownSerial: number | null;
}

/** `ignored`: must not be answered. `unknown`: an opcode that is not supported. */
type Packet =
  | { readonly kind: "query"; readonly query: Query }
  | { readonly kind: "malformed" | "unknown"; readonly header: Header }
  | { readonly kind: "ignored" };

export const headerBytes = 12;
/** Several times the size of a normal query. */
export const maxQueryBytes = 4_096;
const maxNameBytes = 255;
/** Limit for compression pointers per name. Otherwise each of many names could require a scan of the whole packet. */
const maxPointers = 32;
const isResponse = 0x8000;
const opcodeMask = 0x7800;
const classAny = 255;

export function readPacket(packet: Buffer): Packet {
  if (packet.length < headerBytes) return { kind: "ignored" };
  const header = { id: packet.readUInt16BE(0), flags: packet.readUInt16BE(2) };
  // Answering responses could make two servers answer each other forever.
  if ((header.flags & isResponse) !== 0) return { kind: "ignored" };
  if ((header.flags & opcodeMask) !== 0) return { kind: "unknown", header };
  const query = packet.length > maxQueryBytes ? null : readQuery(packet, header);
  return query === null ? { kind: "malformed", header } : { kind: "query", query };
}

function readQuery(packet: Buffer, header: Header): Query | null {
  const [questions, answers, authority, additional] = [4, 6, 8, 10].map((at) => packet.readUInt16BE(at));
  if (questions !== 1 || answers !== 0 || authority === undefined || additional === undefined) return null;
  const name = readNameAt(packet, headerBytes, false);
  if (name === null || name.end + 4 > packet.length) return null;
  const records = readRecords(packet, name.end + 4, authority + additional);
  if (records === null) return null;
  const rest = readExtras(packet, records, authority);
  if (rest === null) return null;
  return {
    ...header,
    packet,
    name: name.name,
    type: packet.readUInt16BE(name.end),
    class: packet.readUInt16BE(name.end + 2),
    questionEnd: name.end + 4,
    ...rest,
  };
}

interface RawRecord {
  readonly start: number;
  readonly owner: Name;
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  readonly dataStart: number;
  readonly end: number;
}

/** Reads `count` records. Null unless they are well-formed and fill the rest of the packet. */
function readRecords(packet: Buffer, from: number, count: number): RawRecord[] | null {
  const records: RawRecord[] = [];
  let at = from;
  for (let index = 0; index < count; index += 1) {
    const owner = readNameAt(packet, at, true);
    if (owner === null || owner.end + 10 > packet.length) return null;
    const dataStart = owner.end + 10;
    const end = dataStart + packet.readUInt16BE(owner.end + 8);
    if (end > packet.length) return null;
    records.push({
      start: at,
      owner: owner.name,
      type: packet.readUInt16BE(owner.end),
      class: packet.readUInt16BE(owner.end + 2),
      ttl: packet.readUInt32BE(owner.end + 4),
      dataStart,
      end,
    });
    at = end;
  }
  return at === packet.length ? records : null;
}

function readExtras(
  packet: Buffer,
  records: readonly RawRecord[],
  authority: number,
): Pick<Query, "edns" | "tsig" | "knownSerial"> | null {
  let edns: Edns | null = null;
  let tsig: Tsig | null = null;
  let knownSerial: number | null = null;
  for (const [index, record] of records.entries()) {
    // A signature must be the last record, because it covers everything before it.
    if (tsig !== null) return null;
    if (index < authority) {
      if (record.type === codes.SOA && record.end - record.dataStart >= 22) {
        knownSerial = packet.readUInt32BE(record.end - 20);
      }
    } else if (record.type === codes.OPT) {
      if (edns !== null || record.owner !== "") return null;
      edns = readEdns(record);
    } else if (record.type === codes.TSIG) {
      tsig = readTsig(packet, record);
      if (tsig === null) return null;
    }
  }
  return { edns, tsig, knownSerial };
}

function readEdns({ class: udpSize, ttl }: RawRecord): Edns {
  return { udpSize, version: (ttl >>> 16) & 0xff, isDnssecOk: (ttl & 0x8000) !== 0 };
}

function readTsig(packet: Buffer, record: RawRecord): Tsig | null {
  if (record.class !== classAny || record.ttl !== 0) return null;
  const algorithm = readNameAt(packet, record.dataStart, false);
  if (algorithm === null || algorithm.end + 10 > record.end) return null;
  const at = algorithm.end;
  const macEnd = at + 10 + packet.readUInt16BE(at + 8);
  if (macEnd + 6 > record.end || macEnd + 6 + packet.readUInt16BE(macEnd + 4) !== record.end) return null;
  return {
    start: record.start,
    key: record.owner,
    algorithm: algorithm.name,
    signedAt: packet.readUIntBE(at, 6),
    fudge: packet.readUInt16BE(at + 6),
    mac: packet.subarray(at + 10, macEnd),
    originalId: packet.readUInt16BE(macEnd),
    error: packet.readUInt16BE(macEnd + 2),
  };
}

const nameBuffer = Buffer.alloc(maxNameBytes);

/**
 * Reads the name at `from`. `end` is the offset after it. Null if it is malformed. Compression pointers must always
 * point to an earlier offset than the last one, so that the loop ends.
 */
export function readNameAt(
  packet: Buffer,
  from: number,
  allowPointers: boolean,
): { readonly name: Name; readonly end: number } | null {
  let end: number | null = null;
  let length = 0;
  let earliest = from;
  let pointers = 0;
  for (let at = from; ; ) {
    const size = packet[at];
    if (size === undefined) return null;
    if (size === 0) return { name: nameBuffer.toString("latin1", 0, length), end: end ?? at + 1 };
    if (size >= 0xc0) {
      const low = packet[at + 1];
      const target = ((size & 0x3f) << 8) | (low ?? 0);
      pointers += 1;
      if (pointers > maxPointers || !allowPointers || low === undefined || target >= earliest || target < headerBytes)
        return null;
      end ??= at + 2;
      earliest = target;
      at = target;
      continue;
    }
    if (size > 63 || at + 1 + size > packet.length || length + 1 + size + 1 > maxNameBytes) return null;
    nameBuffer[length] = size;
    for (let index = 1; index <= size; index += 1) {
      const byte = packet[at + index] ?? 0;
      nameBuffer[length + index] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
    }
    length += 1 + size;
    at += 1 + size;
  }
}
