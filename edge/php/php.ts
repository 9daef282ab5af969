/** Hands a request to PHP and its answer to the visitor, both as they come, and to others who asked the same. */
import type { Readable } from "node:stream";
import { type AnswerLogs, noteNoAnswer } from "../answered.ts";
import { addressOf } from "../http/address.ts";
import { toUpstream, toVisitor } from "../http/headers.ts";
import { readBody, refuseUpload, UploadTooLarge } from "../http/uploads.ts";
import type { VisitorRequest, VisitorResponse } from "../http/visitorHttp.ts";
import type { Limits } from "../limits.ts";
import { sendPage } from "../pages.ts";
import type { Visit } from "../visit.ts";
import { type CacheKey, cacheKeyOf } from "./cacheKey.ts";
import type { Coalescing, Making, SharedPage } from "./coalescing.ts";
import type { Keeping } from "./keeping.ts";
import type { Script, SharedAsk } from "./script.ts";
import {
  type NoAnswerReason,
  reasonOf,
  type Upstream,
  type UpstreamRequest,
  type UpstreamResponse,
} from "./upstream.ts";
import type { Writes } from "./writes.ts";

/**
 * Whether the response has been ended: with PHP's answer, with a page that says why there is none, or by breaking it
 * off. Or nothing was done yet, because PHP may not write at the moment and wanted to.
 */
export type PhpOutcome = "answered" | "wouldWrite";

export interface PhpParts extends AnswerLogs {
  readonly upstream: Upstream;
  readonly writes: Writes;
  readonly coalescing: Coalescing;
  readonly limits: Limits;
}

/** Answers a request that may write, and nobody else with the same. `ended` is called when PHP is done with it. */
export async function answerAlone(visit: Visit, script: Script, parts: PhpParts, ended: () => void): Promise<void> {
  const askPhp = async () => {
    try {
      const answer = await ask(visit, script, parts, false);
      // The visitor may leave before, or still be reading afterwards.
      void answer.finished.then(ended);
      return answer;
    } catch (error) {
      ended();
      throw error;
    }
  };
  await havePageMade(visit, askPhp, parts);
}

/** What was sent may be written yet, or not: PHP has not said. A client that has received a part of the answer gets no more. */
export function breakOff(asked: Pick<VisitorRequest, "headers">, response: VisitorResponse): void {
  if (response.headersSent) response.destroy();
  else sendPage(asked, response, "unfinished", { connection: "close" });
}

/** Answers a read-only request, perhaps with the page that PHP is rendering for another visitor. */
export async function answerWithPhp(visit: Visit, script: Script, parts: PhpParts): Promise<PhpOutcome> {
  return answerOnce(visit, cacheKeyOf(visit, script), parts, (making) =>
    havePageMade(visit, () => askToRead(visit, script, parts), parts, making === null ? {} : { making }),
  );
}

/** Calls `read`, unless the same answer is being rendered for another visitor. */
export async function answerOnce(
  visit: Visit,
  key: CacheKey | null,
  parts: PhpParts,
  read: (making: Making | null) => Promise<PhpOutcome>,
): Promise<PhpOutcome> {
  if (key === null) return read(null);
  const { response } = visit;
  for (let made = parts.coalescing.find(key); made !== null; made = parts.coalescing.find(key)) {
    const outcome = await made;
    if (response.destroyed) return "answered";
    if (outcome.kind === "failed") return sayWhyNot(visit, outcome.error, parts);
    if (outcome.kind === "alone") continue;
    sendShared(outcome.page, visit);
    return "answered";
  }
  const making = parts.coalescing.begin(key);
  try {
    return await read(making);
  } finally {
    making?.end();
  }
}

function sendShared({ status, headers, body }: SharedPage, visit: Visit): void {
  const { request, response } = visit;
  response.writeHead(status, headOf(visit, headers)).end(request.method === "HEAD" ? undefined : body);
}

/** PHP's headers, and whether the page could have come from the page cache. Requests of PHP itself never do. */
function headOf({ route, fromPhp, page }: Visit, headers: UpstreamResponse["headers"]): string[] {
  const head = toVisitor(headers);
  if (route.environment.pageCache !== undefined) head.push("X-Cache", page === null || fromPhp ? "BYPASS" : "MISS");
  return head;
}

/** Who else hears of the page. */
export interface PageListeners {
  /** Those who asked the same meanwhile. */
  readonly making?: Making;
  /** Stores it for later requests. */
  readonly keeping?: Keeping;
  /** Answers where PHP has nothing but an error. */
  readonly lastResort?: () => void;
}

/** Asks PHP, and answers with what it says. */
export async function havePageMade(
  visit: Visit,
  askPhp: () => Promise<UpstreamResponse>,
  parts: PhpParts,
  listeners: PageListeners = {},
): Promise<PhpOutcome> {
  const { making, keeping, lastResort } = listeners;
  const { request, response } = visit;
  let answer: UpstreamResponse;
  try {
    answer = await askPhp();
  } catch (error) {
    // What became of it then says nothing to those who are still there.
    if (isOver(response)) return "answered";
    making?.failed(error);
    if (lastResort === undefined) return sayWhyNot(visit, error, parts);
    noteNoAnswer(visit, error, parts);
    lastResort();
    return "answered";
  }
  if (isOver(response)) {
    discard(answer.body);
    return "answered";
  }
  if (!Number.isInteger(answer.status) || answer.status < 200 || answer.status > 599) {
    discard(answer.body);
    making?.broken();
    noteNoAnswer(visit, new Error(`PHP answered with the status ${answer.status}`), parts);
    sendPage(request, response, "crashed");
    return "answered";
  }
  making?.begun(answer);
  keeping?.begun(answer);
  if (lastResort !== undefined && answer.status >= 500) {
    discard(answer.body);
    lastResort();
  } else await pass(answer, visit, parts, listeners);
  return "answered";
}

/** The visitor has left, or was told that it takes too long. */
function isOver(response: VisitorResponse): boolean {
  return response.destroyed || response.writableEnded;
}

async function sayWhyNot(visit: Visit, error: unknown, parts: PhpParts): Promise<PhpOutcome> {
  const { request, response } = visit;
  const reason = reasonOf(error);
  if (reason === "wouldWrite") return "wouldWrite";
  if (error instanceof UploadTooLarge) {
    await refuseUpload(request, response, parts.limits.uploadBytes);
    return "answered";
  }
  noteNoAnswer(visit, error, parts);
  sendPage(request, response, reason);
  return "answered";
}

/** It takes longer than the freeze waits, and its writes would be lost. */
class TooLong extends Error {
  override readonly name = "TooLong";
  readonly reason: NoAnswerReason = "wouldWrite";
}

/** In an environment that is frozen PHP may not write; where it is frozen meanwhile, what has begun is waited for. */
export async function askToRead(visit: Visit, script: Script, parts: PhpParts): Promise<UpstreamResponse> {
  const late = Promise.withResolvers<never>();
  const reading = parts.writes.read(visit.route.environment.id, () => late.reject(new TooLong()));
  const asked = ask(visit, script, parts, reading.isFrozen);
  try {
    const answer = await Promise.race([asked, late.promise]);
    void answer.finished.then(reading.end);
    return answer;
  } catch (error) {
    reading.end();
    asked.then((unused) => discard(unused.body)).catch(() => undefined);
    throw error;
  }
}

function ask(
  visit: Visit,
  script: Script,
  { upstream, limits }: PhpParts,
  isReadOnly: boolean,
): Promise<UpstreamResponse> {
  const { request, response, route } = visit;
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const { task, page, ...run } = script;
  const { body, ...sent } =
    page !== undefined ? inTheNameOfAll(page) : task === undefined ? sentBy(visit, limits) : who(visit);
  const answer = upstream.handle(route.environment.id, {
    ...sent,
    body,
    ...run,
    ...(task === undefined ? {} : { task }),
    remoteAddress: addressOf({ socket: request.socket, fromPhp: visit.fromPhp }),
    https: visit.https,
    fromPhp: visit.fromPhp,
    signal: gone.signal,
    isReadOnly,
  });
  return body === null || body === request ? answer : Promise.race([answer, failureOf(body, answer, gone)]);
}

type Sent = Pick<UpstreamRequest, "method" | "url" | "headers" | "body">;

function sentBy({ request, path, host }: Visit, { uploadBytes }: Limits): Sent {
  const body = readBody(request, uploadBytes);
  return { method: request.method ?? "GET", url: path.url, headers: toUpstream(request, host), body };
}

function inTheNameOfAll({ url, headers }: SharedAsk): Sent {
  return { method: "GET", url, headers, body: null };
}

const aboutVisitor = new Set(["accept", "accept-language", "cookie", "host", "user-agent"]);

/** As if the visitor had asked for the front page. */
function who({ request, host }: Visit): Sent {
  const headers = Object.entries(toUpstream(request, host)).filter(([name]) => aboutVisitor.has(name));
  return { method: "GET", url: "/", headers: Object.fromEntries(headers), body: null };
}

/** Rejects once the upload is over the limit; PHP's own answer is then of no use, whatever becomes of it. */
function failureOf(body: Readable, answer: Promise<UpstreamResponse>, gone: AbortController): Promise<never> {
  return new Promise((_, reject) => {
    body.once("error", (error) => {
      answer.then((unused) => discard(unused.body)).catch(() => undefined);
      reject(error);
      gone.abort();
    });
  });
}

async function pass(
  answer: UpstreamResponse,
  visit: Visit,
  parts: PhpParts,
  { making, keeping }: PageListeners,
): Promise<void> {
  const { request, response } = visit;
  // PHP that has nothing to say at the moment must hear at once that nobody listens any more.
  response.once("close", () => answer.body.destroy());
  const bodiless = request.method === "HEAD" || answer.status === 204 || answer.status === 304;
  try {
    // A length that PHP got wrong would let one answer run into the next on the same connection.
    response.strictContentLength = !bodiless;
    response.writeHead(answer.status, headOf(visit, answer.headers));
    for await (const chunk of answer.body) {
      keeping?.add(chunk);
      if (bodiless) continue;
      const isKept = making?.add(chunk) ?? false;
      if (!response.write(chunk) && !isKept) await drained(response);
      if (response.destroyed) return;
    }
    response.end();
    making?.whole();
    keeping?.whole();
  } catch (error) {
    if (!response.destroyed) {
      making?.broken();
      noteNoAnswer(visit, error, parts);
    }
    // The head is out: all that is left to say is that this isn't the whole answer.
    answer.body.destroy();
    response.destroy();
  }
}

/** The client is gone, and the outcome does not matter. */
function discard(body: Readable): void {
  body.on("error", () => undefined).destroy();
}

function drained(response: VisitorResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((done) => {
    const finish = () => {
      response.off("drain", finish).off("close", finish);
      done();
    };
    response.on("drain", finish).on("close", finish);
  });
}
