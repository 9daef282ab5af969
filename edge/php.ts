/** Hands a request to PHP and its answer to the visitor, both as they come: nothing is gathered here. */
import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { toUpstream, toVisitor } from "./headers.ts";
import { sendPage } from "./pages.ts";
import { readBody, refuseUpload, UploadTooLarge } from "./uploads.ts";
import { reasonOf, type UpstreamResponse } from "./upstream.ts";
import type { EdgeParts, Visit } from "./visit.ts";

export interface Script {
  readonly script: string;
  readonly pathInfo: string;
}

/** Always ends the response: with PHP's answer, with a page that says why there is none, or by breaking it off. */
export async function answerWithPhp(visit: Visit, script: Script, parts: EdgeParts): Promise<void> {
  const { request, response } = visit;
  let answer: UpstreamResponse;
  try {
    answer = await ask(visit, script, parts);
  } catch (error) {
    if (response.destroyed) return;
    if (error instanceof UploadTooLarge) return refuseUpload(request, response);
    const reason = reasonOf(error);
    parts.log.warn({ environment: visit.route.environment.id, reason, err: error }, "PHP gave no answer");
    return sendPage(request, response, reason);
  }
  if (!Number.isInteger(answer.status) || answer.status < 200 || answer.status > 599) {
    discard(answer.body);
    return sendPage(request, response, "crashed");
  }
  await pass(answer, response, request.method === "HEAD");
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

async function pass(answer: UpstreamResponse, response: ServerResponse, isHead: boolean): Promise<void> {
  // PHP that has nothing to say at the moment must hear at once that nobody listens any more.
  response.once("close", () => answer.body.destroy());
  const bodiless = isHead || answer.status === 204 || answer.status === 304;
  try {
    // A length that PHP got wrong would let one answer run into the next on the same connection.
    response.strictContentLength = !bodiless;
    response.writeHead(answer.status, toVisitor(answer.headers));
    for await (const chunk of answer.body) {
      if (bodiless) continue;
      if (!response.write(chunk)) await drained(response);
      if (response.destroyed) return;
    }
    response.end();
  } catch {
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
