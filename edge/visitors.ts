/** The public HTTP server: finds the site, decides what the URL means, and sends the response. */
import { createServer, type Server } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { TlsOptions } from "node:tls";
import { answerForApi } from "./api/apiName.ts";
import { receiveBody } from "./bodies/receiveBody.ts";
import { answerPageRequest, pageRequestOf, sendFreshPage } from "./cache/answerPage.ts";
import { noteResponse } from "./endedResponse.ts";
import { resolve } from "./files/resolve.ts";
import { sendFile } from "./files/static.ts";
import { addressOf } from "./http/address.ts";
import { expectContinue } from "./http/expectations.ts";
import { createHttp2VisitorServer, type Handler } from "./http/http2Server.ts";
import type { NetworkCounts } from "./http/networkCounts.ts";
import { makePage, sendPage } from "./http/pages.ts";
import { paceReads } from "./http/readPace.ts";
import { exceedsUploadLimit, hasBody, isUpload, refuseBody, refuseUpload } from "./http/uploads.ts";
import type { VisitorRequest, VisitorResponse, VisitorSocket } from "./http/visitorHttp.ts";
import { answerLogin, isLoginLink } from "./login/login.ts";
import { inLoginTurn, loginRefusalOf, sendLoginRefusal } from "./login/loginAttempt.ts";
import type { EdgeParts } from "./parts.ts";
import { abortWrite, answerWithPhp, answerWrite } from "./php/answerWithPhp.ts";
import { frontController } from "./php/cacheKey.ts";
import { isRestRequest, mayWrite } from "./php/mayWrite.ts";
import type { Script } from "./php/script.ts";
import { answerSecurityTxt } from "./securityTxt.ts";
import { type FoundRoute, findRoute, type NoRoute, targetOf } from "./tables/findRoute.ts";
import type { Route } from "./tables/routes.ts";
import { answerChallenge } from "./tls/challenge.ts";
import { redirectToHttps } from "./tls/forceHttps.ts";
import { isMisdirected } from "./tls/misdirected.ts";
import { createSecureServer, type SecureServer } from "./tls/secureServer.ts";
import { claimantOf, payerOf } from "./visit/claimant.ts";
import { type PhpCaller, type Sender, senderOf } from "./visit/sender.ts";
import type { Visit } from "./visit/visit.ts";

/** Limit for the request head. WordPress with many plugins sets many cookies. */
const maxHeadBytes = 32 * 1024;
const keepAliveMilliseconds = 30_000;

/** Forms without files are smaller than this. */
const maxFormBytes = 100_000;

const jsonErrors = { headers: { accept: "application/json" } };

/** Returns the environment whose PHP opened the connection. */
type FindCaller = (socket: VisitorSocket) => PhpCaller | null;

/** Creates a server that isn't listening yet. `callerOf`: for connections of this installation's PHP. Absent: visitors. */
export function createVisitorServer(parts: EdgeParts, callerOf: FindCaller | null = null): Server {
  return attach(createServer(serverOptions(parts)), parts, { callerOf, https: false });
}

/**
 * Creates the TLS server, not listening yet. `connections` counts them before they cost a handshake; `requests` counts
 * those of HTTP/2. `callerOf`: for connections of this installation's PHP only, others are refused. Absent: visitors.
 */
export function createSecureVisitorServer(
  parts: EdgeParts,
  tls: TlsOptions,
  { connections, requests }: { readonly connections: NetworkCounts; readonly requests: NetworkCounts },
  callerOf: FindCaller | null = null,
): SecureServer {
  const listener = { callerOf, https: true };
  const http1 = attach(createServer(serverOptions(parts)), parts, listener);
  const bounds = { headBytes: maxHeadBytes, idleMilliseconds: keepAliveMilliseconds };
  return createSecureServer({
    tls,
    connections,
    clientOf: (socket) => (callerOf === null ? addressOf(socket) : (callerOf(socket)?.id ?? null)),
    http1,
    http2: createHttp2VisitorServer({ ...createHandler(parts, listener), open: requests }, parts.limits, bounds),
  });
}

function serverOptions({ limits }: EdgeParts) {
  return {
    maxHeaderSize: maxHeadBytes,
    headersTimeout: limits.headSeconds * 1000,
    requestTimeout: limits.requestSeconds * 1000,
    connectionsCheckingInterval: Math.min(limits.headSeconds * 500, 5_000),
    keepAliveTimeout: keepAliveMilliseconds,
    noDelay: true,
    // Node would answer before `paceReads` has seen the request.
    requireHostHeader: false,
  };
}

function attach(server: Server, parts: EdgeParts, listener: Listener): Server {
  const { answer, clientOf } = createHandler(parts, listener);
  server.on("request", (request, response) => {
    if (request.headers.host !== undefined || request.httpVersion !== "1.1") return answer(request, response);
    response.writeHead(400, { connection: "close" }).end();
  });
  // HTTP allows servers to ignore unknown expectations.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.timeout = parts.limits.silenceSeconds * 1000;
  server.on("checkContinue", (request, response) => {
    const { shouldKeepAlive } = response;
    // A visitor that gets a response instead may still send the body or not, so no other request can follow.
    response.shouldKeepAlive = false;
    expectContinue(request, () => {
      response.shouldKeepAlive = shouldKeepAlive;
      response.writeContinue();
    });
    answer(request, response);
  });
  paceReads(server, parts.pace, clientOf);
  return server;
}

function createHandler(parts: EdgeParts, listener: Listener): Omit<Handler, "open"> {
  const { trustedProxies, proxiedRequests } = parts;
  const answer = (request: VisitorRequest, response: VisitorResponse) => {
    const startedAt = performance.now();
    const { socket } = request;
    const { api } = parts;
    const target = targetOf(request);
    // Read now: a closed connection has no address.
    const peer = addressOf(socket);
    const isProxied = listener.callerOf === null && trustedProxies.has(peer);
    const address = isProxied ? trustedProxies.visitorOf(peer, request.headers["x-forwarded-for"]) : peer;
    const https = listener.https || (isProxied && request.headers["x-forwarded-proto"] === "https");
    if (isProxied && !proxiedRequests.add(address, response)) return sendPage(request, response, "busy");
    if (api !== null && listener.callerOf === null && target.name === api.name) {
      const asked = { request, response, url: target.url, address, https, isProxied };
      answerForApi(asked, api, parts.publicTlsPort()).catch((error: unknown) =>
        handleFailure(parts, request, response, error),
      );
      return;
    }
    const found = findRoute(target, parts.routes);
    const sender = senderOf(address, listener.callerOf?.(socket) ?? null, found);
    response.once("close", () => {
      const milliseconds = performance.now() - startedAt;
      noteResponse(parts, { request, response, socket, ...sender, found, milliseconds });
    });
    handle(parts, { request, response, body: null, ...sender, https }, found).catch((error: unknown) =>
      handleFailure(parts, request, response, error),
    );
  };
  return { answer, clientOf: (socket) => listener.callerOf?.(socket)?.id ?? addressOf(socket) };
}

/** Which listener accepted the request. */
interface Listener extends Pick<Visit, "https"> {
  /** Null if it accepts visitors, not PHP. */
  readonly callerOf: FindCaller | null;
}
type IncomingRequest = Pick<Visit, "request" | "response" | "body" | "https" | keyof Sender>;

async function handle(parts: EdgeParts, incoming: IncomingRequest, found: FoundRoute | NoRoute): Promise<void> {
  const { request, response } = incoming;
  if (!incoming.fromPhp && answerChallenge(request, response, parts.routes.table())) return;
  if (isBlocked(found, incoming)) return sendPage(request, response, "denied", closeIfBody(request));
  if (exceedsUploadLimit(request, parts.limits)) return refuseUpload(request, response, parts.limits);
  // A TRACE response would expose a visitor's cookies to scripts in the page.
  if (request.method === "TRACE") return sendPage(request, response, "methodNotAllowed", { allow: "GET, HEAD, POST" });
  if (answerSecurityTxt(request, response, found, parts)) return;
  if (typeof found === "string") return sendPage(request, response, found);
  if (incoming.https && isMisdirected(request, found.host, parts)) return sendPage(request, response, "misdirected");
  const visit = { ...incoming, ...found, pageRequest: pageRequestOf({ ...incoming, ...found }, parts.pageCache) };
  if (redirectToHttps(visit, parts)) return;
  if (await parts.redirectVisit(visit)) return;
  // Requests from PHP skip the queue: the request that made them has already had its turn.
  if (!visit.fromPhp && !(await waitForTurn(visit, parts))) return;
  await answerVisit(visit, parts);
}

/** Waits for the request's turn. False if the visitor has left or got the busy page. */
async function waitForTurn({ request, response, route }: Visit, { fairQueue }: EdgeParts): Promise<boolean> {
  if (await fairQueue.take(payerOf(route.environment))) return !response.destroyed;
  sendPage(request, response, "busy");
  return false;
}

/** PHP may request its own site even from a blocked IP address. */
function isBlocked(found: FoundRoute | NoRoute, { address, fromPhp }: Sender): boolean {
  return !fromPhp && typeof found !== "string" && found.route.isBlocked(address);
}

/** Closes the connection rather than read a body from a blocked IP address. */
function closeIfBody(request: VisitorRequest): Readonly<Record<string, string>> {
  return hasBody(request) ? { connection: "close" } : {};
}

async function answerVisit(visit: Visit, parts: EdgeParts): Promise<void> {
  if (sendFreshPage(visit, parts)) return;
  if (isLoginLink(visit)) return answerLogin(visit, parts);
  const { request, response, route, path, host, fromPhp } = visit;
  const { lookUp, environment } = route;
  const accessTo = (requested: readonly string[], real: readonly string[]) =>
    parts.folderAccess.of(lookUp, requested, real);
  const decision = await resolve(path, { multisite: environment.multisite, host, accessTo }, lookUp);
  switch (decision.kind) {
    case "php":
      // Sitewright runs scheduled tasks itself: anyone else could only keep PHP busy.
      if (decision.script.endsWith("/wp-cron.php") && !fromPhp) return sendPage(request, response, "notFound");
      // A copy of WordPress in a folder has one, too.
      if (decision.script.endsWith("/xmlrpc.php") && route.environment.isXmlRpcOn !== true) return refuseXmlRpc(visit);
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

/** Says why also to programs that show only text. */
function refuseXmlRpc({ request, response }: Visit): Promise<void> {
  return refuseBody(request, response, makePage(request, "xmlRpcOff"));
}

/**
 * Runs PHP. Writes are refused while the environment is frozen; otherwise they are tracked because freezing waits for
 * them. A write begins when its body has arrived, so that a slow upload holds up neither a freeze nor shared pages. So does
 * the turn of a login, which holds up other logins.
 */
async function runScript(visit: Visit, script: Script, parts: EdgeParts): Promise<void> {
  const { request, response, route, path } = visit;
  const errorFormat = isRestRequest(path) ? jsonErrors : request;
  if (exceedsQuota(visit)) return refuseBody(request, response, makePage(errorFormat, "diskFull"));
  const refusal = loginRefusalOf(visit, script, parts.loginBrake);
  if (refusal !== null) return sendLoginRefusal(visit, refusal);
  if (!mayWrite(request, path, script.script)) {
    return inLoginTurn(visit, script, parts, (visit) => answerRead(visit, script, parts));
  }
  if (parts.writes.isFrozen(route.environment.id)) return sendPage(errorFormat, response, "frozen");
  if (hasBody(request) && visit.body === null) return handleWithBody(visit, errorFormat, parts);
  return inLoginTurn(visit, script, parts, (visit) => runWrite(visit, script, errorFormat, parts));
}

async function runWrite(
  visit: Visit,
  script: Script,
  errorFormat: Pick<VisitorRequest, "headers">,
  parts: EdgeParts,
): Promise<void> {
  const { response, route } = visit;
  const endRequest = parts.writes.begin(route.environment.id, () => abortWrite(errorFormat, response));
  if (endRequest === null) return sendPage(errorFormat, response, "frozen");
  parts.coalescing.stopSharing(route.environment.id);
  const endWrite = parts.pageCache.beginWrite(route.environment.id);
  await answerWrite(visit, script, parts, () => {
    endWrite();
    endRequest();
  });
}

/** Receives the body, then starts again with the route in force: it may have changed during a long upload. */
async function handleWithBody(
  visit: Visit,
  errorFormat: Pick<VisitorRequest, "headers">,
  parts: EdgeParts,
): Promise<void> {
  const { request, response, address, fromPhp, https, route } = visit;
  const body = await receiveBody(visit, claimantOf(visit), errorFormat, parts);
  if (body === null) return;
  const found = findRoute(targetOf(request), parts.routes);
  try {
    // PHP has privileges at its own environment only.
    if (fromPhp && !leadsTo(found, route)) sendPage(errorFormat, response, "unavailable");
    else await handle(parts, { request, response, body, address, fromPhp, https }, found);
  } finally {
    await body.close();
  }
}

function leadsTo(found: FoundRoute | NoRoute, { environment }: Route): boolean {
  return typeof found !== "string" && found.route.environment.id === environment.id;
}

/**
 * Whether an upload is larger than the remaining disk quota. Refused here because WordPress would only report that it
 * can't move the file. Small requests are let through, because they may need no space.
 */
function exceedsQuota({ request, route }: Visit): boolean {
  const disk = route.environment.limits?.disk ?? null;
  if (disk === null || !isUpload(request)) return false;
  return Number(request.headers["content-length"] ?? 0) > Math.max(0, disk.leftBytes) + maxFormBytes;
}

/**
 * Answers a read. If PHP tries to write while the environment is frozen, the request waits for the thaw and starts
 * again with the route then in force. Requests from the site's own PHP don't wait: the freeze may be waiting for them.
 */
async function answerRead(visit: Visit, script: Script, parts: EdgeParts): Promise<void> {
  const { request, response, address, fromPhp, https, pageRequest } = visit;
  const isCacheable = pageRequest !== null && script.script === frontController;
  const outcome = isCacheable
    ? await answerPageRequest(visit, pageRequest, script, parts)
    : await answerWithPhp(visit, script, parts);
  if (outcome === "answered") return;
  const isThawed = !fromPhp && (await waitForThaw(visit, parts));
  if (response.destroyed) return;
  if (!isThawed) return sendPage(request, response, "wouldWrite");
  const incoming = { request, response, body: null, address, fromPhp, https };
  return handle(parts, incoming, findRoute(targetOf(request), parts.routes));
}

/** Waits for the thaw. False if it takes too long or the visitor has left. */
async function waitForThaw({ response, route }: Visit, { writes, limits }: EdgeParts): Promise<boolean> {
  const stopWaiting = new AbortController();
  const leave = () => stopWaiting.abort();
  response.once("close", leave);
  const timeout = delay(limits.holdSeconds * 1000, false, { signal: stopWaiting.signal, ref: false }).catch(
    () => false,
  );
  const isThawed = await Promise.race([writes.thawed(route.environment.id).then(() => true), timeout]);
  response.off("close", leave);
  stopWaiting.abort();
  return isThawed;
}

function handleFailure(parts: EdgeParts, request: VisitorRequest, response: VisitorResponse, error: unknown): void {
  // Usually the visitor left in the middle of a file. Not worth logging.
  if (response.destroyed || response.headersSent) {
    response.destroy();
    return;
  }
  parts.log.error({ err: error }, "The edge failed to answer");
  sendPage(request, response, "broken");
}
