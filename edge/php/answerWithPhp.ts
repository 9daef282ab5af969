/** Streams a request to PHP and the response to the visitor, and to others who asked for the same page. */
import type { Readable } from "node:stream";
import { withOwnCookies, withoutForgedCookies } from "../http/cookies.ts";
import { toUpstream, toVisitor } from "../http/headers.ts";
import { sendPage } from "../http/pages.ts";
import type { VisitorRequest, VisitorResponse } from "../http/visitorHttp.ts";
import type { RequestLogs } from "../logs/edgeLog.ts";
import { readHost } from "../tables/hosts.ts";
import { claimantOf } from "../visit/claimant.ts";
import type { Visit } from "../visit/visit.ts";
import { type CacheKey, cacheKeyOf } from "./cacheKey.ts";
import type { Coalescing, SharedPage, SharedRender } from "./coalescing.ts";
import { logVisitFailure } from "./failureLog.ts";
import type { PageRecorder } from "./pageRecorder.ts";
import type { Script, SharedRequest } from "./script.ts";
import type { UnreadResponses } from "./unreadResponses.ts";
import {
  type NoAnswerReason,
  reasonOf,
  type Upstream,
  type UpstreamRequest,
  type UpstreamResponse,
} from "./upstream.ts";
import { markVisit, type WriteMarkers } from "./writeMarkers.ts";
import type { Writes } from "./writes.ts";

/**
 * `answered`: the response has been ended or aborted. `wouldWrite`: nothing was sent, because PHP tried to write to a
 * frozen environment.
 */
export type PhpOutcome = "answered" | "wouldWrite";

export interface PhpParts extends RequestLogs {
  readonly pageCache: WriteMarkers;
  readonly upstream: Upstream;
  readonly writes: Writes;
  readonly coalescing: Coalescing;
  readonly unread: UnreadResponses;
  /** Host names below it belong to sites of different companies. */
  readonly siteSuffix: string;
}

/** Answers a request that may write, without sharing the response. `onEnd` is called when PHP has finished. */
export async function answerWrite(visit: Visit, script: Script, parts: PhpParts, onEnd: () => void): Promise<void> {
  const askPhp = async () => {
    try {
      // PHP has the body when it begins to answer.
      const answer = await ask(visit, script, parts, false).finally(() => visit.body?.close());
      // The connection may close before or after that.
      void answer.finished.then(onEnd);
      return answer;
    } catch (error) {
      onEnd();
      throw error;
    }
  };
  await renderPage(visit, askPhp, parts);
}

/** Aborts a write whose outcome is unknown: with a page that says so, or by closing if the response has started. */
export function abortWrite(request: Pick<VisitorRequest, "headers">, response: VisitorResponse): void {
  if (response.headersSent) response.destroy();
  else sendPage(request, response, "unfinished", { connection: "close" });
}

/** Answers a read, if possible with the page that PHP is rendering for another visitor. */
export async function answerWithPhp(visit: Visit, script: Script, parts: PhpParts): Promise<PhpOutcome> {
  return answerShared(visit, cacheKeyOf(visit, script), parts, (shared) =>
    renderPage(visit, () => askForRead(visit, script, parts), parts, shared === null ? {} : { shared }),
  );
}

/** Calls `read`, unless the same page is being rendered for another visitor. */
export async function answerShared(
  visit: Visit,
  key: CacheKey | null,
  parts: PhpParts,
  read: (shared: SharedRender | null) => Promise<PhpOutcome>,
): Promise<PhpOutcome> {
  if (key === null) return read(null);
  const { response } = visit;
  noteSource(visit);
  for (let pending = parts.coalescing.find(key); pending !== null; pending = parts.coalescing.find(key)) {
    const outcome = await pending;
    if (response.destroyed) return "answered";
    if (outcome.kind === "failed") return sendFailure(visit, outcome.error, parts);
    if (outcome.kind === "notShared") continue;
    sendShared(outcome.page, visit, parts);
    return "answered";
  }
  const shared = parts.coalescing.begin(key);
  try {
    return await read(shared);
  } finally {
    shared?.end();
  }
}

function sendShared({ status, headers, body }: SharedPage, visit: Visit, parts: PhpParts): void {
  const { request, response } = visit;
  response.writeHead(status, headOf(visit, headers, parts)).end(request.method === "HEAD" ? undefined : body);
}

function noteSource(visit: Visit): void {
  visit.response.source = visit.route.environment.pageCache !== undefined && mayBeCached(visit) ? "miss" : "bypass";
}

/** PHP's own requests never use the page cache. */
function mayBeCached({ pageRequest, fromPhp }: Visit): boolean {
  return pageRequest !== null && !fromPhp;
}

/** PHP's headers and `X-Cache`. */
function headOf(
  visit: Visit,
  headers: UpstreamResponse["headers"],
  { siteSuffix }: Pick<PhpParts, "siteSuffix">,
): string[] {
  const head = toVisitor(withOwnCookies(headers, siteSuffix));
  if (visit.route.environment.pageCache !== undefined) head.push("X-Cache", mayBeCached(visit) ? "MISS" : "BYPASS");
  return head;
}

/** What else happens with a rendered page. */
interface RenderListeners {
  /** Shares it with concurrent requests for the same page. */
  readonly shared?: SharedRender;
  /** Stores it in the page cache. */
  readonly recorder?: PageRecorder;
  /** Sends a response if PHP fails. */
  readonly fallback?: () => void;
}

/** Calls `askPhp` and sends its response to the visitor. */
export async function renderPage(
  visit: Visit,
  askPhp: () => Promise<UpstreamResponse>,
  parts: PhpParts,
  listeners: RenderListeners = {},
): Promise<PhpOutcome> {
  const { shared, recorder, fallback } = listeners;
  const { request, response } = visit;
  noteSource(visit);
  let answer: UpstreamResponse;
  try {
    answer = await askPhp();
  } catch (error) {
    // This visitor's cancellation says nothing about requests that still wait.
    if (isEnded(response)) return "answered";
    shared?.fail(error);
    if (fallback === undefined) return sendFailure(visit, error, parts);
    logVisitFailure(visit, error, parts);
    fallback();
    return "answered";
  }
  if (isEnded(response)) {
    discard(answer.body);
    return "answered";
  }
  if (!Number.isInteger(answer.status) || answer.status < 200 || answer.status > 599) {
    discard(answer.body);
    shared?.abort();
    logVisitFailure(visit, new Error(`PHP responded with the invalid status ${answer.status}`), parts);
    sendPage(request, response, "crashed");
    return "answered";
  }
  recorder?.start(answer);
  shared?.start(answer);
  if (fallback !== undefined && answer.status >= 500) {
    discard(answer.body);
    fallback();
  } else await streamResponse(answer, visit, parts, listeners);
  return "answered";
}

/** Whether the visitor has left or got another response. */
function isEnded(response: VisitorResponse): boolean {
  return response.destroyed || response.writableEnded;
}

function sendFailure(visit: Visit, error: unknown, parts: PhpParts): PhpOutcome {
  const { request, response } = visit;
  const reason = reasonOf(error);
  if (reason === "wouldWrite") return "wouldWrite";
  logVisitFailure(visit, error, parts);
  sendPage(request, response, reason);
  return "answered";
}

/** The request takes longer than the freeze waits, so its writes would be lost. */
class ReadTooLong extends Error {
  override readonly name = "ReadTooLong";
  readonly reason: NoAnswerReason = "wouldWrite";
}

/** Asks PHP as a read. In a frozen environment PHP may not write; a freeze waits for reads that have started. */
export async function askForRead(visit: Visit, script: Script, parts: PhpParts): Promise<UpstreamResponse> {
  const tooLong = Promise.withResolvers<never>();
  const read = parts.writes.read(visit.route.environment.id, () => tooLong.reject(new ReadTooLong()));
  const endMark = markVisit(visit, parts.pageCache);
  const end = () => {
    endMark();
    read.end();
  };
  const response = ask(visit, script, parts, read.isFrozen);
  try {
    const answer = await Promise.race([response, tooLong.promise]);
    void answer.finished.then(end);
    return answer;
  } catch (error) {
    end();
    response.then((unused) => discard(unused.body)).catch(() => undefined);
    throw error;
  }
}

function ask(
  visit: Visit,
  script: Script,
  { upstream, siteSuffix }: PhpParts,
  isReadOnly: boolean,
): Promise<UpstreamResponse> {
  const { response, route, login } = visit;
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const { task, page, ...run } = script;
  const sent =
    page !== undefined ? sharedRequest(page) : task === undefined ? visitorRequest(visit) : visitorIdentity(visit);
  const headers = withoutForgedCookies(sent.headers, readHost(visit.host), siteSuffix);
  const answer = upstream.handle(route.environment.id, {
    ...sent,
    headers,
    ...run,
    ...(task === undefined ? {} : { task }),
    ...(login === undefined ? {} : { headersAtStart: () => (login.begin() ? {} : refusedLogins) }),
    remoteAddress: visit.address,
    https: visit.https,
    fromPhp: visit.fromPhp,
    signal: gone.signal,
    isReadOnly,
  });
  if (login !== undefined) answer.then(({ headers }) => login.onAnswer(headers)).catch(() => login.onAnswer([]));
  return answer;
}

type RequestParts = Pick<UpstreamRequest, "method" | "url" | "headers" | "body">;

/** Makes the platform's PHP refuse logins (`runtimes/platform/logins.php`). */
const refusedLogins = { "x-sitewright-logins": "refused" };

function visitorRequest({ request, path, host, body }: Visit): RequestParts {
  return { method: request.method ?? "GET", url: path.url, headers: toUpstream(request, host), body };
}

function sharedRequest({ url, headers }: SharedRequest): RequestParts {
  return { method: "GET", url, headers, body: null };
}

const identityHeaders = new Set(["accept", "accept-language", "cookie", "host", "user-agent"]);

/** A request for the front page, with only the headers that identify the visitor. */
function visitorIdentity({ request, host }: Visit): RequestParts {
  const headers = Object.entries(toUpstream(request, host)).filter(([name]) => identityHeaders.has(name));
  return { method: "GET", url: "/", headers: Object.fromEntries(headers), body: null };
}

async function streamResponse(
  answer: UpstreamResponse,
  visit: Visit,
  parts: PhpParts,
  { shared, recorder }: RenderListeners,
): Promise<void> {
  const { request, response } = visit;
  // Tells PHP at once that the visitor has left, even if it is not sending anything.
  response.once("close", () => answer.body.destroy());
  const endWatch = parts.unread.watch({
    claimant: claimantOf(visit),
    bytes: () => response.writableLength + answer.body.readableLength,
    cutOff: () => response.destroy(),
  });
  response.once("close", endWatch);
  const hasNoBody = request.method === "HEAD" || answer.status === 204 || answer.status === 304;
  try {
    // With a wrong length from PHP, one response would run into the next on the same connection.
    response.strictContentLength = !hasNoBody;
    response.writeHead(answer.status, headOf(visit, answer.headers, parts));
    for await (const chunk of answer.body) {
      recorder?.add(chunk);
      if (hasNoBody) continue;
      const isKept = shared?.add(chunk) ?? false;
      if (!response.write(chunk) && !isKept) await waitForDrain(response);
      if (response.destroyed) return;
    }
    response.end();
    shared?.complete();
    recorder?.complete();
  } catch (error) {
    if (!response.destroyed) {
      shared?.abort();
      logVisitFailure(visit, error, parts);
    }
    // The head has been sent. Closing the connection shows that the response is incomplete.
    answer.body.destroy();
    response.destroy();
  }
}

/** Drops a response that no one needs. */
export function discard(body: Readable): void {
  body.on("error", () => undefined).destroy();
}

function waitForDrain(response: VisitorResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((done) => {
    const finish = () => {
      response.off("drain", finish).off("close", finish);
      done();
    };
    response.on("drain", finish).on("close", finish);
  });
}
