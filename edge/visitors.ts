/** The public HTTP server: finds the site, decides what the URL means, and sends the response. */
import { createServer, type Server } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { TlsOptions } from "node:tls";
import { noteAnswer } from "./answered.ts";
import { answerAtOnce, answerWithPage, pageOf } from "./cache/answerPage.ts";
import { resolve } from "./files/resolve.ts";
import { sendFile } from "./files/static.ts";
import { addressOf } from "./http/address.ts";
import { createHttp2VisitorServer, type Handler } from "./http/http2Visitors.ts";
import { announcesTooMuch, hasBody, isUpload, refuseBody, refuseUpload } from "./http/uploads.ts";
import type { VisitorRequest, VisitorResponse } from "./http/visitorHttp.ts";
import { answerLogin, isLoginLink } from "./login/login.ts";
import { makePage, sendPage } from "./pages.ts";
import type { EdgeParts } from "./parts.ts";
import { frontController } from "./php/cacheKey.ts";
import { isForRest, mayWrite } from "./php/mayWrite.ts";
import { answerAlone, answerWithPhp, breakOff } from "./php/php.ts";
import type { Script } from "./php/script.ts";
import { type FoundRoute, findRoute, type NoRoute } from "./tables/findRoute.ts";
import { answerChallenge } from "./tls/challenge.ts";
import { sendToHttps } from "./tls/forceHttps.ts";
import { isMisdirected } from "./tls/misdirected.ts";
import { createSecureServer, type SecureServer } from "./tls/secureServer.ts";
import type { Visit } from "./visit.ts";

/** Limit for the request head. WordPress with many plugins sets many cookies. */
const headBytes = 32 * 1024;
const keepAliveMilliseconds = 30_000;

/** Forms without files are smaller than this. */
const formBytes = 100_000;

const asksForJson = { headers: { accept: "application/json" } };

/** Creates a server that isn't listening yet. `fromPhp`: only this installation's PHP can connect. */
export function createVisitorServer(parts: EdgeParts, fromPhp: boolean): Server {
  return prepare(createServer(serverOptions(parts)), parts, { fromPhp, https: false });
}

/** Creates the TLS server, not listening yet. */
export function createSecureVisitorServer(parts: EdgeParts, tls: TlsOptions): SecureServer {
  const way = { fromPhp: false, https: true };
  const http1 = prepare(createServer(serverOptions(parts)), parts, way);
  const bounds = { headBytes, idleMilliseconds: keepAliveMilliseconds };
  return createSecureServer({ tls, http1, http2: createHttp2VisitorServer(handler(parts, way), parts.limits, bounds) });
}

function serverOptions({ limits }: EdgeParts) {
  return {
    maxHeaderSize: headBytes,
    headersTimeout: limits.headSeconds * 1000,
    requestTimeout: limits.requestSeconds * 1000,
    connectionsCheckingInterval: Math.min(limits.headSeconds * 500, 5_000),
    keepAliveTimeout: keepAliveMilliseconds,
    noDelay: true,
  };
}

function prepare(server: Server, parts: EdgeParts, way: Way): Server {
  const { answer, isWelcome } = handler(parts, way);
  server.on("request", answer);
  server.timeout = parts.limits.silenceSeconds * 1000;
  server.on("checkContinue", (request, response) => {
    if (isWelcome(request)) response.writeContinue();
    answer(request, response);
  });
  return server;
}

function handler(parts: EdgeParts, way: Way): Handler {
  const { fromPhp } = way;
  const answer = (request: VisitorRequest, response: VisitorResponse) => {
    const began = performance.now();
    const { socket } = request;
    // Read now: a closed connection has no address.
    const address = addressOf({ socket, fromPhp });
    const found = findRoute(request, parts.routes);
    response.once("close", () => {
      const milliseconds = performance.now() - began;
      if (!fromPhp) parts.answerTimes.note(response.statusCode, milliseconds);
      noteAnswer(parts, { request, response, socket, address, fromPhp, found, milliseconds });
    });
    handle(parts, { request, response, ...way }, found).catch((error: unknown) =>
      giveUp(parts, request, response, error),
    );
  };
  const isWelcome = (request: VisitorRequest) =>
    !isDenied(findRoute(request, parts.routes), { request, fromPhp }) &&
    !announcesTooMuch(request, parts.limits.uploadBytes);
  return { answer, isWelcome };
}

/** Which listener accepted the request. */
type Way = Pick<Visit, "fromPhp" | "https">;
type Asking = Pick<Visit, "request" | "response"> & Way;

async function handle(parts: EdgeParts, asking: Asking, found: FoundRoute | NoRoute): Promise<void> {
  const { request, response } = asking;
  if (!asking.fromPhp && answerChallenge(request, response, parts.routes.table())) return;
  if (isDenied(found, asking)) return sendPage(request, response, "denied", leaveIfSending(request));
  if (announcesTooMuch(request, parts.limits.uploadBytes))
    return refuseUpload(request, response, parts.limits.uploadBytes);
  // A TRACE response would expose a visitor's cookies to scripts in the page.
  if (request.method === "TRACE") return sendPage(request, response, "methodNotAllowed", { allow: "GET, HEAD, POST" });
  if (typeof found === "string") return sendPage(request, response, found);
  if (asking.https && isMisdirected(request, found.host, parts)) return sendPage(request, response, "misdirected");
  const visit = { ...asking, ...found, page: pageOf({ ...asking, ...found }, parts.pageCache) };
  if (sendToHttps(visit, parts)) return;
  if (await parts.redirectVisit(visit)) return;
  // Requests from PHP skip the queue: the request that made them has already had its turn.
  if (!visit.fromPhp && !(await hasTurn(visit, parts))) return;
  await answerVisit(visit, parts);
}

/** Waits for the request's turn. False if the visitor has left or got the busy page. */
async function hasTurn({ request, response, route }: Visit, { fairQueue, traffic }: EdgeParts): Promise<boolean> {
  const { id } = route.environment;
  traffic.follow(request, response, id);
  if (await fairQueue.take(id)) return !response.destroyed;
  sendPage(request, response, "busy");
  return false;
}

/** PHP may request its own site even from a blocked IP address. */
function isDenied(found: FoundRoute | NoRoute, { request, fromPhp }: Pick<Asking, "request" | "fromPhp">): boolean {
  if (fromPhp || typeof found === "string") return false;
  return found.route.isDenied(addressOf({ socket: request.socket, fromPhp }));
}

/** Closes the connection rather than read a body from a blocked IP address. */
function leaveIfSending(request: VisitorRequest): Readonly<Record<string, string>> {
  return hasBody(request) ? { connection: "close" } : {};
}

async function answerVisit(visit: Visit, parts: EdgeParts): Promise<void> {
  if (answerAtOnce(visit, parts)) return;
  if (isLoginLink(visit)) return answerLogin(visit, parts);
  const { request, response, route, path } = visit;
  const decision = await resolve(path, route.environment, route.look);
  switch (decision.kind) {
    case "php":
      return runScript(visit, { script: decision.script, pathInfo: decision.pathInfo }, parts);
    case "static":
      return sendFile(visit, decision, parts.fileCache);
    case "refuse":
      return sendPage(request, response, "notFound");
    case "redirect": {
      const reads = request.method === "GET" || request.method === "HEAD";
      response.writeHead(reads ? 301 : 308, { location: decision.location, "content-length": 0 }).end();
    }
  }
}

/**
 * Runs PHP. Writes are refused while the environment is frozen; otherwise they are tracked because freezing waits for
 * them.
 */
async function runScript(visit: Visit, script: Script, parts: EdgeParts): Promise<void> {
  const { request, response, route, path } = visit;
  const asked = isForRest(path) ? asksForJson : request;
  if (exceedsQuota(visit)) return refuseBody(request, response, makePage(asked, "diskFull"));
  if (!mayWrite(request, path, script.script)) return read(visit, script, parts);
  const ended = parts.writes.begin(route.environment.id, () => breakOff(asked, response));
  if (ended === null) return sendPage(asked, response, "frozen");
  parts.coalescing.separate(route.environment.id);
  const endWrite = parts.pageCache.beginWrite(route.environment.id);
  await answerAlone(visit, script, parts, () => {
    endWrite();
    ended();
  });
}

/**
 * Whether an upload is larger than the remaining disk quota. Refused here because WordPress would only report that it
 * can't move the file. Small uploads are let through: they may be forms without files.
 */
function exceedsQuota({ request, route }: Visit): boolean {
  const disk = route.environment.limits?.disk ?? null;
  if (disk === null || !isUpload(request)) return false;
  return Number(request.headers["content-length"] ?? 0) > Math.max(0, disk.leftBytes) + formBytes;
}

/**
 * Answers a read. If PHP tries to write while the environment is frozen, the request waits for the thaw and starts
 * again with the route then in force. Requests from the site's own PHP don't wait: the freeze may be waiting for them.
 */
async function read(visit: Visit, script: Script, parts: EdgeParts): Promise<void> {
  const { request, response, fromPhp, https } = visit;
  const { page } = visit;
  const isKept = page !== null && script.script === frontController;
  if (
    (await (isKept ? answerWithPage(visit, page, script, parts) : answerWithPhp(visit, script, parts))) === "answered"
  )
    return;
  const isThawed = !fromPhp && (await isSoonThawed(visit, parts));
  if (response.destroyed) return;
  if (isThawed) return handle(parts, { request, response, fromPhp, https }, findRoute(request, parts.routes));
  sendPage(request, response, "wouldWrite");
}

/** Waits for the thaw. False if it takes too long or the visitor has left. */
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

function giveUp(parts: EdgeParts, request: VisitorRequest, response: VisitorResponse, error: unknown): void {
  // Usually the visitor left in the middle of a file. Not worth logging.
  if (response.destroyed || response.headersSent) {
    response.destroy();
    return;
  }
  parts.log.error({ err: error }, "The edge failed to answer");
  sendPage(request, response, "broken");
}
