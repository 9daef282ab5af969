/** Streams a request to PHP and the response to the visitor, and to others who asked for the same page. */
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
 * `answered`: the response has been ended or aborted. `wouldWrite`: nothing was sent, because PHP tried to write to a
 * frozen environment.
 */
export type PhpOutcome = "answered" | "wouldWrite";

export interface PhpParts extends AnswerLogs {
  readonly upstream: Upstream;
  readonly writes: Writes;
  readonly coalescing: Coalescing;
  readonly limits: Limits;
}

/** Answers a request that may write, without sharing the response. `ended` is called when PHP has finished. */
export async function answerAlone(visit: Visit, script: Script, parts: PhpParts, ended: () => void): Promise<void> {
  const askPhp = async () => {
    try {
      const answer = await ask(visit, script, parts, false);
      // The connection may close before or after that.
      void answer.finished.then(ended);
      return answer;
    } catch (error) {
      ended();
      throw error;
    }
  };
  await havePageMade(visit, askPhp, parts);
}

/** Aborts a write whose outcome is unknown: with a page that says so, or by closing if the response has started. */
export function breakOff(asked: Pick<VisitorRequest, "headers">, response: VisitorResponse): void {
  if (response.headersSent) response.destroy();
  else sendPage(asked, response, "unfinished", { connection: "close" });
}

/** Answers a read, if possible with the page that PHP is rendering for another visitor. */
export async function answerWithPhp(visit: Visit, script: Script, parts: PhpParts): Promise<PhpOutcome> {
  return answerOnce(visit, cacheKeyOf(visit, script), parts, (making) =>
    havePageMade(visit, () => askToRead(visit, script, parts), parts, making === null ? {} : { making }),
  );
}

/** Calls `read`, unless the same page is being rendered for another visitor. */
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

/** PHP's headers and `X-Cache`. PHP's own requests never use the page cache. */
function headOf({ route, fromPhp, page }: Visit, headers: UpstreamResponse["headers"]): string[] {
  const head = toVisitor(headers);
  if (route.environment.pageCache !== undefined) head.push("X-Cache", page === null || fromPhp ? "BYPASS" : "MISS");
  return head;
}

/** What else happens with a rendered page. */
export interface PageListeners {
  /** Shares it with concurrent requests for the same page. */
  readonly making?: Making;
  /** Stores it in the page cache. */
  readonly keeping?: Keeping;
  /** Sends a response if PHP fails. */
  readonly lastResort?: () => void;
}

/** Calls `askPhp` and sends its response to the visitor. */
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
    // This visitor's cancellation says nothing about requests that still wait.
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

/** Whether the visitor has left or got another response. */
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

/** The request takes longer than the freeze waits, so its writes would be lost. */
class TooLong extends Error {
  override readonly name = "TooLong";
  readonly reason: NoAnswerReason = "wouldWrite";
}

/** Asks PHP as a read. In a frozen environment PHP may not write; a freeze waits for reads that have started. */
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

/** A request for the front page, with only the headers that identify the visitor. */
function who({ request, host }: Visit): Sent {
  const headers = Object.entries(toUpstream(request, host)).filter(([name]) => aboutVisitor.has(name));
  return { method: "GET", url: "/", headers: Object.fromEntries(headers), body: null };
}

/** Rejects if the upload fails, such as by exceeding the limit. PHP's response is then discarded. */
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
  // Tells PHP at once that the visitor has left, even if it is not sending anything.
  response.once("close", () => answer.body.destroy());
  const bodiless = request.method === "HEAD" || answer.status === 204 || answer.status === 304;
  try {
    // With a wrong length from PHP, one response would run into the next on the same connection.
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
    // The head has been sent. Closing the connection shows that the response is incomplete.
    answer.body.destroy();
    response.destroy();
  }
}

/** Drops a response that no one needs. */
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
