/** Encodes responses. */
import { type Answer, type Entry, emptyAnswer } from "../answer.ts";
import { type Header, headerBytes, type Query } from "./readPacket.ts";
import { createWriter, type Writer } from "./writer.ts";

/** Larger responses are truncated, because larger UDP packets are lost too often (DNS flag day 2020). */
const maxUdpBytes = 1_232;
const minUdpBytes = 512;
export const maxTcpBytes = 65_535;
const ednsBytes = 11;

const isResponse = 0x8000;
const authoritative = 0x0400;
const truncated = 0x0200;
/** Flags copied from the query: opcode, recursion desired, checking disabled. */
const copiedFlags = 0x7910;

/** Shared, because messages are encoded one at a time. */
const writer = createWriter();

/** The largest UDP response that the client accepts, in bytes. */
export function udpLimit({ edns }: Query): number {
  return Math.min(maxUdpBytes, Math.max(minUdpBytes, edns?.udpSize ?? minUdpBytes));
}

/** The response to a packet that can't be parsed or is not a question: only a header. */
export function headerReply({ id, flags }: Header, rcode: number): Buffer {
  const message = Buffer.alloc(headerBytes);
  message.writeUInt16BE(id, 0);
  message.writeUInt16BE(isResponse | (flags & copiedFlags) | rcode, 2);
  return message;
}

/**
 * Encodes a response of at most `limit` bytes. Additional records that don't fit are omitted. If the answer itself
 * doesn't fit, the response is empty and marked as truncated.
 */
export function reply(query: Query, answer: Answer, limit: number): Buffer {
  const most = limit - (query.edns === null ? 0 : ednsBytes);
  begin(query, answer);
  if (!writeSections(writer, answer, most)) {
    begin(query, { ...emptyAnswer(answer.rcode), isAuthoritative: answer.isAuthoritative }, truncated);
  }
  if (query.edns !== null) writeEdns(query.edns.isDnssecOk, answer.rcode >> 4);
  return writer.message();
}

/** An empty, truncated response, which tells the client to retry over TCP. */
export function truncatedReply(query: Query, answer: Answer): Buffer {
  begin(query, answer, truncated);
  if (query.edns !== null) writeEdns(query.edns.isDnssecOk, answer.rcode >> 4);
  return writer.message();
}

/**
 * A message of a transfer with the entries from index `from` that fit into `most` bytes. `next` is the first one left.
 */
export function transferMessage(
  query: Query,
  entries: readonly Entry[],
  from: number,
  most: number,
): { readonly message: Buffer; readonly next: number } {
  begin(query, { ...emptyAnswer(0), isAuthoritative: true });
  let [next, records] = [from, 0];
  for (; next < entries.length; next += 1) {
    const entry = entries[next];
    // The first entry may exceed the limit.
    const written = entry && writer.set(entry.owner, entry.set, next === from ? maxTcpBytes - 512 : most);
    if (typeof written !== "number") break;
    records += written;
  }
  writer.uint16(records, 6);
  if (query.edns !== null) writeEdns(query.edns.isDnssecOk, 0);
  return { message: writer.message(), next };
}

function begin({ packet, id, flags, name, questionEnd }: Query, answer: Answer, more = 0): void {
  writer.begin(packet.subarray(0, questionEnd), name);
  writer.uint16(id, 0);
  const authority = answer.isAuthoritative ? authoritative : 0;
  writer.uint16(isResponse | (flags & copiedFlags) | authority | more | (answer.rcode & 0xf), 2);
  for (const at of [6, 8, 10]) writer.uint16(0, at);
}

function writeSections(to: Writer, answer: Answer, limit: number): boolean {
  const { answers, authority, additional, needsAdditional } = answer;
  if (!writeSection(to, answers, 6, limit) || !writeSection(to, authority, 8, limit)) return false;
  return writeSection(to, additional, 10, limit) || !needsAdditional;
}

/** Writes the entries that fit. False if some did not. */
function writeSection(to: Writer, entries: readonly Entry[], countAt: number, limit: number): boolean {
  let count = 0;
  let isWhole = true;
  for (const { owner, set } of entries) {
    const written = to.set(owner, set, limit);
    if (written === null) isWhole = false;
    else count += written;
  }
  to.uint16(count, countAt);
  return isWhole;
}

function writeEdns(isDnssecOk: boolean, highRcode: number): void {
  const record = Buffer.alloc(ednsBytes);
  record.writeUInt16BE(41, 1);
  record.writeUInt16BE(maxUdpBytes, 3);
  record[5] = highRcode;
  record[7] = isDnssecOk ? 0x80 : 0;
  writer.bytes(record);
  writer.uint16(writer.readUint16(10) + 1, 10);
}
