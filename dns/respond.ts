/** Turns a packet into the response: nothing, one message, or the messages of a transfer. */
import { type Answer, answerQuestion, emptyAnswer, rcodes } from "./answer.ts";
import { networkOf } from "./clients.ts";
import type { Key } from "./keys.ts";
import { type Header, type Query, readPacket } from "./message/readPacket.ts";
import { headerReply, maxTcpBytes, reply, truncatedReply, udpLimit } from "./message/reply.ts";
import { sign, signFailure, tsigBytes, verify } from "./message/tsig.ts";
import type { RateLimit, Verdict } from "./rateLimit.ts";
import { codes } from "./records/recordTypes.ts";
import type { Served } from "./served.ts";
import { mayTransfer, transfer } from "./transfer.ts";

export interface Responder {
  /** One message, no larger than the client accepts, or null. */
  overUdp(packet: Buffer, address: string): Buffer | null;
  overTcp(packet: Buffer, address: string): Iterable<Buffer>;
}

const classIn = 1;
const noMessages: readonly Buffer[] = [];

/** `now` returns milliseconds since 1970. */
export function createResponder(served: Served, rateLimit: RateLimit, now: () => number = Date.now): Responder {
  const seconds = () => Math.floor(now() / 1000);

  /** The key of the query's signature (null if it is unsigned), or the response to an invalid signature. */
  function checkSignature(query: Query): { readonly key: Key | null } | { readonly refusal: Buffer } {
    if (query.tsig === null) return { key: null };
    const verified = verify(query, query.tsig, served.state.keys, seconds());
    if (verified.isValid) return { key: verified.key };
    const message = reply({ ...query, edns: null }, emptyAnswer(rcodes.NOTAUTH), maxTcpBytes);
    return { refusal: signFailure(message, query.tsig, verified, seconds()) };
  }

  function signResponse(message: Buffer, query: Query, key: Key | null): Buffer {
    if (key === null || query.tsig === null) return message;
    return sign(message, { key, priorMac: query.tsig.mac, isLater: false, now: seconds() }).signed;
  }

  function* signedTransfer(messages: Iterable<Buffer>, query: Query, key: Key): Generator<Buffer> {
    let priorMac = query.tsig?.mac ?? null;
    let isLater = false;
    for (const message of messages) {
      const { signed, mac } = sign(message, { key, priorMac, isLater, now: seconds() });
      [priorMac, isLater] = [mac, true];
      yield signed;
    }
  }

  function limitBeforeSigning(query: Query, limit: number): number {
    return query.tsig === null ? limit : limit - tsigBytes(query.tsig);
  }

  function headerOnly(header: Header, rcode: number, address: string): Buffer | null {
    return rateLimit.check(networkOf(address), `${rcode}`) === "answer" ? headerReply(header, rcode) : null;
  }

  function limitedReply(verdict: Verdict, query: Query, answer: Answer): Buffer | null {
    return verdict === "drop" ? null : truncatedReply(query, answer);
  }

  function overUdp(packet: Buffer, address: string): Buffer | null {
    const read = readPacket(packet);
    if (read.kind === "ignored") return null;
    if (read.kind !== "query") return headerOnly(read.header, rcodeOf(read.kind), address);
    const { query } = read;
    const check = checkSignature(query);
    if ("refusal" in check) {
      // Compressed names of an invalid signature may become longer than the client accepts.
      const message = check.refusal.length > udpLimit(query) ? headerReply(query, rcodes.NOTAUTH) : check.refusal;
      return rateLimit.check(networkOf(address), `${rcodes.NOTAUTH}`) === "answer" ? message : null;
    }
    const isTransfer = query.type === codes.AXFR || query.type === codes.IXFR;
    const answer = isTransfer ? emptyAnswer(rcodes.REFUSED) : answerTo(served, query);
    if (check.key === null) {
      const verdict = rateLimit.check(networkOf(address), `${answer.rcode} ${query.type} ${answer.source}`);
      if (verdict !== "answer") return limitedReply(verdict, query, answer);
    } else if (query.type === codes.IXFR) {
      return signResponse(truncatedReply(query, emptyAnswer(rcodes.NOERROR)), query, check.key);
    }
    return signResponse(reply(query, answer, limitBeforeSigning(query, udpLimit(query))), query, check.key);
  }

  function overTcp(packet: Buffer, address: string): Iterable<Buffer> {
    const read = readPacket(packet);
    if (read.kind === "ignored") return noMessages;
    if (read.kind !== "query") return [headerReply(read.header, rcodeOf(read.kind))];
    const { query } = read;
    const check = checkSignature(query);
    if ("refusal" in check) return [check.refusal];
    const limit = limitBeforeSigning(query, maxTcpBytes);
    if (query.type !== codes.AXFR && query.type !== codes.IXFR) {
      return [signResponse(reply(query, answerTo(served, query), limit), query, check.key)];
    }
    const zone = query.class === classIn ? served.state.zones.find(query.name) : null;
    const isApex = zone !== null && zone !== "broken" && zone.apex === query.name;
    if (check.key !== null && isApex && mayTransfer(served.state, address, check.key)) {
      return signedTransfer(transfer(query, zone), query, check.key);
    }
    return [signResponse(reply(query, emptyAnswer(rcodes.REFUSED), limit), query, check.key)];
  }

  return { overUdp, overTcp };
}

function rcodeOf(kind: "malformed" | "unknown"): number {
  return kind === "malformed" ? rcodes.FORMERR : rcodes.NOTIMP;
}

function answerTo(served: Served, query: Query): Answer {
  if (query.edns !== null && query.edns.version > 0) return emptyAnswer(rcodes.BADVERS);
  if (query.class !== classIn) return emptyAnswer(rcodes.REFUSED);
  if (query.type === codes.OPT || query.type === codes.TSIG) return emptyAnswer(rcodes.FORMERR);
  // Types from 128 to 255 are only for questions (RFC 6895, 3.1).
  const isQuestionType = query.type >= 128 && query.type <= 255;
  if (isQuestionType && query.type !== codes.ANY) return emptyAnswer(rcodes.NOTIMP);
  return answerQuestion(served.state.zones, query.name, query.type);
}
