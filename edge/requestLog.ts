/** Logs requests and PHP failures. */

import { hostOf, type VisitorRequest, type VisitorResponse, type VisitorSocket } from "./http/visitorHttp.ts";
import type { EdgeLog } from "./log.ts";
import type { EnvironmentLogs } from "./logs/environmentLogs.ts";
import { withoutSecrets } from "./logs/masks.ts";
import { type NoAnswerReason, reasonOf } from "./php/upstream.ts";
import type { FoundRoute, NoRoute } from "./tables/findRoute.ts";
import type { Visit } from "./visit.ts";

export interface RequestLogs {
  /** Logs of environments, for their owners. */
  readonly logs: EnvironmentLogs;
  /** The edge's own log. */
  readonly log: EdgeLog;
}

export interface AnsweredRequest {
  readonly request: VisitorRequest;
  readonly response: VisitorResponse;
  readonly socket: VisitorSocket;
  readonly address: string;
  readonly fromPhp: boolean;
  readonly found: FoundRoute | NoRoute;
  readonly milliseconds: number;
}

/** The status that nginx logs if the visitor leaves before the response. */
const clientClosedRequest = 499;

/** Writes to the environment's access log and, at level debug, to the edge's log. */
export function logResponse({ logs, log }: RequestLogs, answered: AnsweredRequest): void {
  const { request, response, found, milliseconds } = answered;
  if (typeof found !== "string") logAccess(logs, answered, found);
  log.debug(
    {
      host: hostOf(request),
      method: request.method,
      // Without the query, which may hold passwords and keys.
      path: request.url?.split("?", 1)[0],
      status: response.statusCode,
      complete: response.writableFinished,
      milliseconds: Math.round(milliseconds),
    },
    "answered",
  );
}

function logAccess(
  logs: EnvironmentLogs,
  { request, response, socket, address, fromPhp, milliseconds }: AnsweredRequest,
  { route, path, host }: FoundRoute,
): void {
  logs.access(route.environment.id, {
    address,
    fromPhp,
    at: new Date(),
    method: request.method ?? "GET",
    url: path.url,
    httpVersion: request.httpVersion,
    status: response.headersSent ? response.statusCode : clientClosedRequest,
    bytes: response.bytesSent ?? bytesSinceLastResponse(socket),
    referrer: request.headers.referer,
    userAgent: request.headers["user-agent"],
    milliseconds,
    host,
  });
}

const explanations: Record<NoAnswerReason, string> = {
  busy: "too many other requests were waiting",
  deadline: "it exceeded the time limit and was stopped",
  crashed: "it stopped unexpectedly",
  unavailable: "it could not be started",
  wouldWrite: "it wanted to write while the environment was being changed",
};

/** Logs why a visitor got no page or an incomplete one. */
export function logVisitFailure({ request, route, path }: Visit, error: unknown, parts: RequestLogs): void {
  logPhpFailure(route.environment.id, `${request.method} ${withoutSecrets(path.url)}`, error, parts);
}

/** Logs a PHP failure. `description` names the request and must contain no secrets. */
export function logPhpFailure(
  environmentId: string,
  description: string,
  error: unknown,
  { logs, log }: RequestLogs,
): void {
  const reason = reasonOf(error);
  logs.error(environmentId, `PHP did not complete ${description}: ${reason}, ${explanations[reason]}`);
  log.warn({ environment: environmentId, reason, err: error }, "PHP gave no complete response");
}

const lastBytesWritten = new WeakMap<VisitorSocket, number>();

/** Bytes of an HTTP/1.1 response: a connection sends its responses one after the other. */
function bytesSinceLastResponse(socket: VisitorSocket): number {
  const sent = socket.bytesWritten;
  const before = lastBytesWritten.get(socket) ?? 0;
  lastBytesWritten.set(socket, sent);
  return sent - before;
}
