/** Answers as bytes. */
import { type Answer, type Entry, failure } from "../answer.ts";
import { type Header, headerBytes, type Query } from "./readPacket.ts";
import { createWriter, type Writer } from "./writer.ts";

/** An answer that is larger is asked for again by TCP: larger ones are lost on the way too often (DNS flag day 2020). */
export const mostUdpBytes = 1_232;
const leastUdpBytes = 512;
export const mostTcpBytes = 65_535;
const ednsBytes = 11;

const isResponse = 0x8000;
const authoritative = 0x0400;
const truncated = 0x0200;
/** Copied from the query: the opcode, "recursion desired", "checking disabled". */
const kept = 0x7910;

/** Messages are written one after the other, each whole, so one place for them is enough. */
const writer = createWriter();

/** The largest UDP answer that the client accepts, in bytes. */
export function udpLimit({ edns }: Query): number {
  return Math.min(mostUdpBytes, Math.max(leastUdpBytes, edns?.udpSize ?? leastUdpBytes));
}

/** To what can't be read, or is no question: the header alone. */
export function refusal({ id, flags }: Header, rcode: number): Buffer {
  const message = Buffer.alloc(headerBytes);
  message.writeUInt16BE(id, 0);
  message.writeUInt16BE(isResponse | (flags & kept) | rcode, 2);
  return message;
}

/**
 * At most `limit` bytes. What doesn't fit is left out: additional records without a word, and everything where it is the
 * answer itself, with the mark that says so.
 */
export function reply(query: Query, answer: Answer, limit: number): Buffer {
  const most = limit - (query.edns === null ? 0 : ednsBytes);
  begin(query, answer);
  if (!writeSections(writer, answer, most)) {
    begin(query, { ...failure(answer.rcode), isAuthoritative: answer.isAuthoritative }, truncated);
  }
  if (query.edns !== null) writeEdns(query.edns.isDnssecOk, answer.rcode >> 4);
  return writer.message();
}

/** Tells the client to ask again by TCP. */
export function truncatedReply(query: Query, answer: Answer): Buffer {
  begin(query, answer, truncated);
  if (query.edns !== null) writeEdns(query.edns.isDnssecOk, answer.rcode >> 4);
  return writer.message();
}

/** A message of a transfer: as many of the entries, from `from`, as go into about `most` bytes, and how many went. */
export function transferMessage(
  query: Query,
  entries: readonly Entry[],
  from: number,
  most: number,
): { readonly message: Buffer; readonly next: number } {
  begin(query, { ...failure(0), isAuthoritative: true });
  let [next, records] = [from, 0];
  for (; next < entries.length; next += 1) {
    const entry = entries[next];
    // The first goes in however long it is.
    const written = entry && writer.set(entry.owner, entry.set, next === from ? mostTcpBytes - 512 : most);
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
  writer.uint16(isResponse | (flags & kept) | authority | more | (answer.rcode & 0xf), 2);
  for (const at of [6, 8, 10]) writer.uint16(0, at);
}

function writeSections(to: Writer, answer: Answer, limit: number): boolean {
  const { answers, authority, additional, needsAdditional } = answer;
  if (!writeSection(to, answers, 6, limit) || !writeSection(to, authority, 8, limit)) return false;
  return writeSection(to, additional, 10, limit) || !needsAdditional;
}

/** False if not all of them went in; those that did stay. */
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
  record.writeUInt16BE(mostUdpBytes, 3);
  record[5] = highRcode;
  record[7] = isDnssecOk ? 0x80 : 0;
  writer.bytes(record);
  writer.uint16(writer.readUint16(10) + 1, 10);
}
