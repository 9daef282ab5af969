/** From a packet to what is sent back: nothing, one message, or the messages of a transfer. */
import { type Answer, answerQuestion, failure, rcodes } from "./answer.ts";
import { networkOf } from "./clients.ts";
import type { Key } from "./keys.ts";
import { type Header, type Query, readPacket } from "./message/readPacket.ts";
import { mostTcpBytes, refusal, reply, truncatedReply, udpLimit } from "./message/reply.ts";
import { sign, signFailure, tsigBytes, verify } from "./message/tsig.ts";
import type { RateLimit, Verdict } from "./rateLimit.ts";
import { codes } from "./records/recordTypes.ts";
import type { Served } from "./served.ts";
import { mayTransfer, transfer } from "./transfer.ts";

export interface Responder {
  /** At most one message, no larger than the client accepts. */
  overUdp(packet: Buffer, address: string): Buffer | null;
  overTcp(packet: Buffer, address: string): Iterable<Buffer>;
}

const classIn = 1;
const nothing: readonly Buffer[] = [];

/** `now` in milliseconds since 1970. */
export function createResponder(served: Served, rateLimit: RateLimit, now: () => number = Date.now): Responder {
  const seconds = () => Math.floor(now() / 1000);

  /** The key that the query is signed with, or the answer to a signature that is not good. */
  function checked(query: Query): { readonly key: Key | null } | { readonly refusal: Buffer } {
    if (query.tsig === null) return { key: null };
    const verified = verify(query, query.tsig, served.state.keys, seconds());
    if (verified.isGood) return { key: verified.key };
    const message = reply({ ...query, edns: null }, failure(rcodes.NOTAUTH), mostTcpBytes);
    return { refusal: signFailure(message, query.tsig, verified, seconds()) };
  }

  function signed(message: Buffer, query: Query, key: Key | null): Buffer {
    if (key === null || query.tsig === null) return message;
    return sign(message, { key, priorMac: query.tsig.mac, isLater: false, now: seconds() }).signed;
  }

  function* signedTransfer(messages: Iterable<Buffer>, query: Query, key: Key): Generator<Buffer> {
    let priorMac = query.tsig?.mac ?? null;
    let isLater = false;
    for (const message of messages) {
      const { signed: whole, mac } = sign(message, { key, priorMac, isLater, now: seconds() });
      [priorMac, isLater] = [mac, true];
      yield whole;
    }
  }

  function unsignedLimit(query: Query, limit: number): number {
    return query.tsig === null ? limit : limit - tsigBytes(query.tsig);
  }

  function headerOnly(header: Header, rcode: number, address: string): Buffer | null {
    return rateLimit.judge(networkOf(address), `${rcode}`) === "answer" ? refusal(header, rcode) : null;
  }

  function limited(verdict: Verdict, query: Query, answer: Answer): Buffer | null {
    return verdict === "drop" ? null : truncatedReply(query, answer);
  }

  function overUdp(packet: Buffer, address: string): Buffer | null {
    const read = readPacket(packet);
    if (read.kind === "ignored") return null;
    if (read.kind !== "query") return headerOnly(read.header, rcodeOf(read.kind), address);
    const { query } = read;
    const check = checked(query);
    if ("refusal" in check) {
      // A client without a key may have written long names with compression pointers.
      const message = check.refusal.length > udpLimit(query) ? refusal(query, rcodes.NOTAUTH) : check.refusal;
      return rateLimit.judge(networkOf(address), `${rcodes.NOTAUTH}`) === "answer" ? message : null;
    }
    const isTransfer = query.type === codes.AXFR || query.type === codes.IXFR;
    const answer = isTransfer ? failure(rcodes.REFUSED) : answerTo(served, query);
    if (check.key === null) {
      const verdict = rateLimit.judge(networkOf(address), `${answer.rcode} ${query.type} ${answer.source}`);
      if (verdict !== "answer") return limited(verdict, query, answer);
    } else if (query.type === codes.IXFR) {
      return signed(truncatedReply(query, failure(rcodes.NOERROR)), query, check.key);
    }
    return signed(reply(query, answer, unsignedLimit(query, udpLimit(query))), query, check.key);
  }

  function overTcp(packet: Buffer, address: string): Iterable<Buffer> {
    const read = readPacket(packet);
    if (read.kind === "ignored") return nothing;
    if (read.kind !== "query") return [refusal(read.header, rcodeOf(read.kind))];
    const { query } = read;
    const check = checked(query);
    if ("refusal" in check) return [check.refusal];
    const limit = unsignedLimit(query, mostTcpBytes);
    if (query.type !== codes.AXFR && query.type !== codes.IXFR) {
      return [signed(reply(query, answerTo(served, query), limit), query, check.key)];
    }
    const zone = query.class === classIn ? served.state.zones.find(query.name) : null;
    const isOurs = zone !== null && zone !== "broken" && zone.apex === query.name;
    if (check.key !== null && isOurs && mayTransfer(served.state, address, check.key)) {
      return signedTransfer(transfer(query, zone), query, check.key);
    }
    return [signed(reply(query, failure(rcodes.REFUSED), limit), query, check.key)];
  }

  return { overUdp, overTcp };
}

function rcodeOf(kind: "malformed" | "unknown"): number {
  return kind === "malformed" ? rcodes.FORMERR : rcodes.NOTIMP;
}

function answerTo(served: Served, query: Query): Answer {
  if (query.edns !== null && query.edns.version > 0) return failure(rcodes.BADVERS);
  if (query.class !== classIn) return failure(rcodes.REFUSED);
  if (query.type === codes.OPT || query.type === codes.TSIG) return failure(rcodes.FORMERR);
  // From 128 on they are questions and not records (RFC 6895, 3.1).
  const isQuestionType = query.type >= 128 && query.type <= 255;
  if (isQuestionType && query.type !== codes.ANY) return failure(rcodes.NOTIMP);
  return answerQuestion(served.state.zones, query.name, query.type);
}
