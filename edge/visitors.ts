/** The HTTP server that visitors reach: finds the site, decides what the address means, and has it answered. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { findRoute } from "./findRoute.ts";
import { isForRest, mayWrite } from "./mayWrite.ts";
import { sendPage } from "./pages.ts";
import { answerAlone, answerWithPhp, type Script } from "./php.ts";
import { resolve } from "./resolve.ts";
import { sendFile } from "./static.ts";
import { announcesTooMuch, refuseUpload } from "./uploads.ts";
import type { EdgeParts, Visit } from "./visit.ts";

/** A WordPress with many plugins sets many cookies. */
const headBytes = 32 * 1024;
const keepAliveMilliseconds = 30_000;

const asksForJson = { headers: { accept: "application/json" } };

/** Not listening yet. `fromPhp`: only PHP of this installation reaches it. */
export function createVisitorServer(parts: EdgeParts, fromPhp: boolean): Server {
  const { limits } = parts;
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const began = performance.now();
    response.once("close", () => logAnswer(parts, request, response, performance.now() - began));
    handle(parts, request, response, fromPhp).catch((error: unknown) => giveUp(parts, request, response, error));
  };
  const server = createServer(
    {
      maxHeaderSize: headBytes,
      headersTimeout: limits.headSeconds * 1000,
      requestTimeout: limits.requestSeconds * 1000,
      connectionsCheckingInterval: Math.min(limits.headSeconds * 500, 5_000),
      keepAliveTimeout: keepAliveMilliseconds,
      noDelay: true,
    },
    answer,
  );
  server.timeout = limits.silenceSeconds * 1000;
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    if (!announcesTooMuch(request, limits.uploadBytes)) response.writeContinue();
    answer(request, response);
  });
  return server;
}

async function handle(
  parts: EdgeParts,
  request: IncomingMessage,
  response: ServerResponse,
  fromPhp: boolean,
): Promise<void> {
  if (announcesTooMuch(request, parts.limits.uploadBytes)) return refuseUpload(request, response);
  // Answering TRACE would read a visitor's cookies out to a script in the page.
  if (request.method === "TRACE") return sendPage(request, response, "methodNotAllowed", { allow: "GET, HEAD, POST" });
  const found = findRoute(request, parts.routes);
  if (typeof found === "string") return sendPage(request, response, found);
  await answerVisit({ request, response, fromPhp, ...found }, parts);
}

async function answerVisit(visit: Visit, parts: EdgeParts): Promise<void> {
  const { request, response, route, path } = visit;
  const decision = await resolve(path, route.environment, route.look);
  switch (decision.kind) {
    case "php":
      return runScript(visit, { script: decision.script, pathInfo: decision.pathInfo }, parts);
    case "static":
      return sendFile(visit, decision.file);
    case "refuse":
      return sendPage(request, response, "notFound");
    case "redirect": {
      const reads = request.method === "GET" || request.method === "HEAD";
      response.writeHead(reads ? 301 : 308, { location: decision.location, "content-length": 0 }).end();
    }
  }
}

/** A write is refused while the environment is frozen, and counted otherwise: whoever freezes it waits for that. */
async function runScript(visit: Visit, script: Script, parts: EdgeParts): Promise<void> {
  const { request, response, route, path } = visit;
  if (!mayWrite(request, path, script.script)) return read(visit, script, parts);
  const asked = isForRest(path) ? asksForJson : request;
  const ended = parts.writes.begin(route.environment.id, () => breakOff(asked, response));
  if (ended === null) return sendPage(asked, response, "frozen");
  parts.collapse.separate(route.environment.id);
  await answerAlone(visit, script, parts, ended);
}

/** What was sent may be written yet, or not: PHP has not said. Whoever has got a part of the answer gets no more of it. */
function breakOff(asked: Pick<IncomingMessage, "headers">, response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else sendPage(asked, response, "unfinished", { connection: "close" });
}

/**
 * A page that wants to write something while the environment is frozen is made when it is not frozen any more, of what
 * is served then. PHP of the site itself doesn't wait for that: it may be what whoever froze it waits for.
 */
async function read(visit: Visit, script: Script, parts: EdgeParts): Promise<void> {
  const { request, response, fromPhp } = visit;
  if ((await answerWithPhp(visit, script, parts)) === "answered") return;
  const isThawed = !fromPhp && (await isSoonThawed(visit, parts));
  if (response.destroyed) return;
  if (isThawed) return handle(parts, request, response, fromPhp);
  sendPage(request, response, "wouldWrite");
}

/** Resolves with false where a visitor would have to wait too long for it, or has left. */
async function isSoonThawed({ response, route }: Visit, { writes, limits }: EdgeParts): Promise<boolean> {
  const enough = new AbortController();
  const leave = () => enough.abort();
  response.once("close", leave);
  const late = delay(limits.holdSeconds * 1000, false, { signal: enough.signal, ref: false }).catch(() => false);
  const isThawed = await Promise.race([writes.thawed(route.environment.id).then(() => true), late]);
  response.off("close", leave);
  enough.abort();
  return isThawed;
}

function giveUp(parts: EdgeParts, request: IncomingMessage, response: ServerResponse, error: unknown): void {
  // A visitor who leaves in the middle of a file is no fault of ours.
  if (response.destroyed || response.headersSent) {
    response.destroy();
    return;
  }
  parts.log.error({ err: error }, "The edge failed to answer");
  sendPage(request, response, "broken");
}

/** Without the query: passwords and keys travel there. */
function logAnswer(parts: EdgeParts, request: IncomingMessage, response: ServerResponse, milliseconds: number): void {
  parts.log.debug(
    {
      host: request.headers.host,
      method: request.method,
      path: request.url?.split("?", 1)[0],
      status: response.statusCode,
      complete: response.writableFinished,
      milliseconds: Math.round(milliseconds),
    },
    "answered",
  );
}
