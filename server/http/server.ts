/** The HTTP API as a Fastify server: all endpoints of the contract's table, health, metrics, the console and the API reference. */
import { randomUUID } from "node:crypto";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { ErrorBody } from "@sitewright/contract/errors.ts";
import { addressOf } from "@sitewright/edge/http/address.ts";
import { createNetworkPace } from "@sitewright/edge/http/networkPace.ts";
import { paceReads } from "@sitewright/edge/http/readPace.ts";
import { noProxies, type TrustedProxies } from "@sitewright/edge/http/trustedProxies.ts";
import type { App } from "@sitewright/server/app/context.ts";
import { makeAnswerOnce } from "@sitewright/server/app/idempotency.ts";
import { makeMetrics } from "@sitewright/server/app/metrics.ts";
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from "fastify";
import { serveDownloads } from "./backups/downloads.ts";
import { bodyLimit, readJsonBodies } from "./bodies.ts";
import { serveChallenges } from "./challenges.ts";
import {
  type ConnectionLimits,
  endSilentConnections,
  limitConnections,
  limitRequests,
  makeTakeRequest,
  pageMillisecondsOf,
  requestMilliseconds,
  timeouts,
} from "./connections.ts";
import { serveConsole } from "./console.ts";
import type { ConsolePaths } from "./consoleFiles.ts";
import { keepEdgeConnections, trustProxies } from "./edgeSocket.ts";
import { answerToClientError, answerToInternalError, answerToOutage, type ErrorAnswer } from "./faults.ts";
import { basePath, makeFindEndpoint, routerOptions, routerPath } from "./findEndpoint.ts";
import { serveHealth } from "./health.ts";
import { makeAuthenticator, type Route } from "./identity.ts";
import { serveMetrics } from "./metrics.ts";
import { serveOpenApi } from "./openApi.ts";
import { refuseUnknownPaths } from "./paths.ts";
import { makePublicResponder } from "./publicCalls.ts";
import { type Limits, makeRateLimits } from "./rateLimits.ts";
import { makeInputReader } from "./reading/input.ts";
import { serveReference } from "./reference.ts";
import { noteRefusals } from "./refusals.ts";
import { makeRepeatedReads, type RepeatedReads } from "./repeatedReads.ts";
import { makeContexts, makeResponder } from "./respond.ts";
import { serveSecurityTxt } from "./securityTxt.ts";
import { answerBrokenRequests, answerInsteadOfNode } from "./sockets.ts";

interface ServerOptions {
  readonly app: App;
  readonly limits: Limits & ConnectionLimits;
  /** The number of control processes, each of which gets a share of the rate limits. Absent: this one only. */
  readonly processes?: () => number;
  /** The token for `/metrics`. Null: only this machine may read it. */
  readonly metricsToken?: string | null;
  /** Writes the security.txt. Absent or null: there is none. */
  readonly securityTxt?: (() => string) | null;
  /** Running challenges of a certificate authority. Absent: none. */
  readonly challenges?: ReadonlyMap<string, string>;
  /** Other proxies than those on this machine that say where a request comes from. Absent: none. */
  readonly trustedProxies?: TrustedProxies;
  /** Where the built console is, now or later. */
  readonly console: ConsolePaths;
  /** A logger with pino's interface. */
  readonly log: FastifyBaseLogger;
}

/** Builds the server. Call `await server.listen({ host, port })` to start it and `await server.close()` to stop it. */
export function buildServer({
  app,
  limits,
  processes,
  metricsToken = null,
  securityTxt = null,
  challenges = new Map(),
  trustedProxies = noProxies,
  console,
  log,
}: ServerOptions): FastifyInstance {
  const isTrustedProxy = trustProxies(trustedProxies);
  const count = makeRateLimits(limits, { processes });
  const server = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    trustProxy: isTrustedProxy,
    genReqId: () => randomUUID(),
    // Making a logger for each request takes longer than many requests do, and most log nothing.
    childLoggerFactory: (logger) => logger,
    routerOptions,
    rewriteUrl: (request) => decodableUrl(request.url ?? "/"),
    forceCloseConnections: "idle",
    // Fastify's own 503 has another shape. Requests that arrive during shutdown are answered normally.
    return503OnClosing: false,
    clientErrorHandler: answerBrokenRequests(count),
    requestTimeout: requestMilliseconds,
    http: { requireHostHeader: false, ...timeouts(limits) },
  });
  limitConnections(server.server, limits, isTrustedProxy);
  const stopping = stopPromptly(server);
  const take = makeTakeRequest(limits);
  const reads = makeRepeatedReads({ app, count, findEndpoint: makeFindEndpoint(), take, stopping, isTrustedProxy });
  answerFirst(server, reads);
  endSilentConnections(server.server, stopping);
  // The edge's socket has no address.
  paceReads(server.server, createNetworkPace(), (socket) => addressOf(socket) || "edge");
  readJsonBodies(server, createNetworkPace());
  server.decorateRequest("identified", null);
  server.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
  server.decorateRequest("snapshot", null);
  limitRequests(server, take, count);
  server.addHook("onRequest", makeAuthenticator(app, count, reads.admissionOf));
  noteRefusals(server, app);
  answerInsteadOfNode(server);
  refuseUnknownPaths(server);
  server.setErrorHandler(answerError);
  keepEdgeConnections(server);
  server.addHook("preClose", async () => app.operationWaits.stop());
  const options = {
    stopping,
    reads,
    answerOnce: makeAnswerOnce(app.database),
    contextOf: makeContexts(app),
    pageMilliseconds: pageMillisecondsOf(limits),
  };
  for (const [name, row] of Object.entries(endpoints)) {
    const route: Route = { name, row, reader: makeInputReader(row) };
    const isPublic = row.resource.kind === "anyone";
    addEndpoint(server, route, isPublic ? makePublicResponder(app, route) : makeResponder(app, route, options));
  }
  serveOpenApi(server, basePath);
  serveDownloads(server, app, stopping);
  serveMetrics(server, makeMetrics({ ...app, maxWorkers: app.limits.maxWorkers }), metricsToken);
  serveHealth(server, app);
  serveChallenges(server, challenges);
  serveReference(server);
  serveConsole(server, console);
  serveSecurityTxt(server, securityTxt);
  return server;
}

/** Lets repeated reads be answered before Fastify sees them. */
function answerFirst(server: FastifyInstance, reads: RepeatedReads): void {
  server.server.removeAllListeners("request");
  server.server.on("request", (request, response) => reads.answer(request, response, server.routing));
}

/** Returns a signal that is aborted when the server begins to stop, so that waiting requests are answered at once. */
function stopPromptly(server: FastifyInstance): AbortSignal {
  const stopping = new AbortController();
  server.addHook("preClose", async () => stopping.abort());
  // Keep-alive connections would keep the server from stopping.
  server.addHook("onSend", (_request, reply, _payload, done) => {
    if (stopping.signal.aborted) reply.header("connection", "close");
    done();
  });
  return stopping.signal;
}

function addEndpoint(
  server: FastifyInstance,
  route: Route,
  handler: ReturnType<typeof makeResponder | typeof makePublicResponder>,
): void {
  const { row } = route;
  const success = Object.entries(row.responses).map(([status, { body }]) => [status, body]);
  server.route({
    method: row.method,
    url: routerPath(row),
    config: { route },
    schema: { response: { "4xx": ErrorBody, "5xx": ErrorBody, ...Object.fromEntries(success) } },
    handler,
  });
}

/** Replaces a path with invalid percent-encoding with one that does not exist. */
function decodableUrl(url: string): string {
  if (!url.includes("%")) return url;
  try {
    decodeURIComponent(url.split("?", 1)[0] ?? "");
    return url;
  } catch {
    return `${basePath}/undecodable`;
  }
}

async function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return send(reply, answerToClientError(error) ?? answerToOutage(error) ?? internalError(error, request, reply));
}

/** Logs the error under the id that the response contains. If the client has gone, nobody gets it, and it may be the reason. */
function internalError(error: unknown, request: FastifyRequest, reply: FastifyReply): ErrorAnswer {
  const isAbandoned = reply.raw.destroyed && error instanceof Error && error.name === "AbortError";
  const facts = { reference_id: request.id, err: error, url: request.routeOptions.url };
  if (isAbandoned) request.log.debug(facts, "A client disconnected");
  else request.log.error(facts, "A request failed");
  return answerToInternalError(error, request.id);
}

function send(reply: FastifyReply, { status, headers, body }: ErrorAnswer): FastifyReply {
  return reply.code(status).headers(headers).type("application/json; charset=utf-8").send(JSON.stringify(body));
}
