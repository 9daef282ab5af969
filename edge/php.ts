/** Hands a request to PHP and its answer to the visitor, both as they come, and to others who asked the same. */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { Making, SharedPage } from "./collapse.ts";
import { toUpstream, toVisitor } from "./headers.ts";
import { sendPage } from "./pages.ts";
import { questionOf } from "./question.ts";
import { readBody, refuseUpload, UploadTooLarge } from "./uploads.ts";
import { reasonOf, type UpstreamResponse } from "./upstream.ts";
import type { EdgeParts, Visit } from "./visit.ts";

export interface Script {
  readonly script: string;
  readonly pathInfo: string;
}

/** Answers a request that may write, and nobody else with the same. Otherwise like `answerWithPhp`. */
export async function answerAlone(visit: Visit, script: Script, parts: EdgeParts): Promise<void> {
  await havePageMade(visit, script, parts, null);
}

/**
 * Answers a request that writes nothing, if need be with the page that PHP is making for somebody else.
 * Always ends the response: with PHP's answer, with a page that says why there is none, or by breaking it off.
 */
export async function answerWithPhp(visit: Visit, script: Script, parts: EdgeParts): Promise<void> {
  const question = questionOf(visit, script);
  if (question === null) return answerAlone(visit, script, parts);
  const { response } = visit;
  for (let made = parts.collapse.find(question); made !== null; made = parts.collapse.find(question)) {
    const outcome = await made;
    if (response.destroyed) return;
    if (outcome.kind === "page") return sendShared(outcome.page, response);
    if (outcome.kind === "failed") return sayWhyNot(visit, outcome.error, parts);
  }
  const making = parts.collapse.begin(question);
  try {
    await havePageMade(visit, script, parts, making);
  } finally {
    making?.end();
  }
}

function sendShared({ status, headers, body }: SharedPage, response: ServerResponse): void {
  response.writeHead(status, toVisitor(headers)).end(body);
}

async function havePageMade(visit: Visit, script: Script, parts: EdgeParts, making: Making | null): Promise<void> {
  const { request, response } = visit;
  let answer: UpstreamResponse;
  try {
    answer = await ask(visit, script, parts);
  } catch (error) {
    // What became of it then says nothing to those who are still there.
    if (response.destroyed) return;
    making?.failed(error);
    return sayWhyNot(visit, error, parts);
  }
  if (!Number.isInteger(answer.status) || answer.status < 200 || answer.status > 599) {
    discard(answer.body);
    making?.broken();
    return sendPage(request, response, "crashed");
  }
  making?.begun(answer);
  await pass(answer, response, request.method === "HEAD", making);
}

async function sayWhyNot({ request, response, route }: Visit, error: unknown, { log }: EdgeParts): Promise<void> {
  if (error instanceof UploadTooLarge) return refuseUpload(request, response);
  const reason = reasonOf(error);
  log.warn({ environment: route.environment.id, reason, err: error }, "PHP gave no answer");
  return sendPage(request, response, reason);
}

function ask(visit: Visit, script: Script, { upstream, limits }: EdgeParts): Promise<UpstreamResponse> {
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
