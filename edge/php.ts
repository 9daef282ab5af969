/** Hands a request to PHP and its answer to the visitor, both as they come, and to others who asked the same. */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { Making, SharedPage } from "./collapse.ts";
import { toUpstream, toVisitor } from "./headers.ts";
import { sendPage } from "./pages.ts";
import { questionOf } from "./question.ts";
import { readBody, refuseUpload, UploadTooLarge } from "./uploads.ts";
import { type NoAnswerReason, reasonOf, type UpstreamResponse } from "./upstream.ts";
import type { EdgeParts, Visit } from "./visit.ts";

export interface Script {
  readonly script: string;
  readonly pathInfo: string;
}

/**
 * Whether the response has been ended: with PHP's answer, with a page that says why there is none, or by breaking it
 * off. Or nothing was done yet, because PHP may not write at the moment and wanted to.
 */
export type Answered = "answered" | "wouldWrite";

/** Answers a request that may write, and nobody else with the same. `ended` is called when PHP is done with it. */
export async function answerAlone(visit: Visit, script: Script, parts: EdgeParts, ended: () => void): Promise<void> {
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
  await havePageMade(visit, askPhp, parts, null);
}

/** Answers a request that is meant to read only, if need be with the page that PHP is making for somebody else. */
export async function answerWithPhp(visit: Visit, script: Script, parts: EdgeParts): Promise<Answered> {
  const question = questionOf(visit, script);
  const read = (making: Making | null) => havePageMade(visit, () => askToRead(visit, script, parts), parts, making);
  if (question === null) return read(null);
  const { response } = visit;
  for (let made = parts.collapse.find(question); made !== null; made = parts.collapse.find(question)) {
    const outcome = await made;
    if (response.destroyed) return "answered";
    if (outcome.kind === "failed") return sayWhyNot(visit, outcome.error, parts);
    if (outcome.kind === "alone") continue;
    sendShared(outcome.page, response);
    return "answered";
  }
  const making = parts.collapse.begin(question);
  try {
    return await read(making);
  } finally {
    making?.end();
  }
}

function sendShared({ status, headers, body }: SharedPage, response: ServerResponse): void {
  response.writeHead(status, toVisitor(headers)).end(body);
}

async function havePageMade(
  visit: Visit,
  askPhp: () => Promise<UpstreamResponse>,
  parts: EdgeParts,
  making: Making | null,
): Promise<Answered> {
  const { request, response } = visit;
  let answer: UpstreamResponse;
  try {
    answer = await askPhp();
  } catch (error) {
    // What became of it then says nothing to those who are still there.
    if (isOver(response)) return "answered";
    making?.failed(error);
    return sayWhyNot(visit, error, parts);
  }
  if (isOver(response)) {
    discard(answer.body);
    return "answered";
  }
  if (!Number.isInteger(answer.status) || answer.status < 200 || answer.status > 599) {
    discard(answer.body);
    making?.broken();
    sendPage(request, response, "crashed");
    return "answered";
  }
  making?.begun(answer);
  await pass(answer, response, request.method === "HEAD", making);
  return "answered";
}

/** The visitor has left, or was told that it takes too long. */
function isOver(response: ServerResponse): boolean {
  return response.destroyed || response.writableEnded;
}

async function sayWhyNot({ request, response, route }: Visit, error: unknown, { log }: EdgeParts): Promise<Answered> {
  const reason = reasonOf(error);
  if (reason === "wouldWrite") return "wouldWrite";
  if (error instanceof UploadTooLarge) {
    await refuseUpload(request, response);
    return "answered";
  }
  log.warn({ environment: route.environment.id, reason, err: error }, "PHP gave no answer");
  sendPage(request, response, reason);
  return "answered";
}

/** It takes longer than whoever froze the environment waits, and what it writes would be lost. */
class TooLong extends Error {
  override readonly name = "TooLong";
  readonly reason: NoAnswerReason = "wouldWrite";
}

/** In an environment that is frozen PHP may not write; where it is frozen meanwhile, what has begun is waited for. */
async function askToRead(visit: Visit, script: Script, parts: EdgeParts): Promise<UpstreamResponse> {
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
  { upstream, limits }: EdgeParts,
  isReadOnly: boolean,
): Promise<UpstreamResponse> {
  const { request, response, route } = visit;
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const body = readBody(request, limits.uploadBytes);
  const answer = upstream.handle(route.environment.id, {
    method: request.method ?? "GET",
    url: visit.path.url,
    ...script,
    headers: toUpstream(request, visit.host),
    body,
    remoteAddress: addressOf(visit),
    https: false,
    fromPhp: visit.fromPhp,
    signal: gone.signal,
    isReadOnly,
  });
  return body === null || body === request ? answer : Promise.race([answer, failureOf(body, answer, gone)]);
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
  response: ServerResponse,
  isHead: boolean,
  making: Making | null,
): Promise<void> {
  // PHP that has nothing to say at the moment must hear at once that nobody listens any more.
  response.once("close", () => answer.body.destroy());
  const bodiless = isHead || answer.status === 204 || answer.status === 304;
  try {
    // A length that PHP got wrong would let one answer run into the next on the same connection.
    response.strictContentLength = !bodiless;
    response.writeHead(answer.status, toVisitor(answer.headers));
    for await (const chunk of answer.body) {
      if (bodiless) continue;
      const isKept = making?.add(chunk) ?? false;
      if (!response.write(chunk) && !isKept) await drained(response);
      if (response.destroyed) return;
    }
    response.end();
    making?.whole();
  } catch {
    if (!response.destroyed) making?.broken();
    // The head is out: all that is left to say is that this isn't the whole answer.
    answer.body.destroy();
    response.destroy();
  }
}

/** Nobody listens any more, also not to how it ends. */
function discard(body: Readable): void {
  body.on("error", () => undefined).destroy();
}

function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((done) => {
    const finish = () => {
      response.off("drain", finish).off("close", finish);
      done();
    };
    response.on("drain", finish).on("close", finish);
  });
}

function addressOf(visit: Visit): string {
  const address = visit.fromPhp ? "127.0.0.1" : (visit.request.socket.remoteAddress ?? "");
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}
