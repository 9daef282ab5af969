/** Logs requests. */
import { hostOf, type VisitorRequest, type VisitorResponse, type VisitorSocket } from "./http/visitorHttp.ts";
import type { RequestLogs } from "./logs/edgeLog.ts";
import type { EnvironmentLogs } from "./logs/environmentLogs.ts";
import type { FoundRoute, NoRoute } from "./tables/findRoute.ts";

export interface FinishedRequest {
  readonly request: VisitorRequest;
  readonly response: VisitorResponse;
  readonly socket: VisitorSocket;
  readonly address: string;
  readonly fromPhp: boolean;
  readonly found: FoundRoute | NoRoute;
  readonly milliseconds: number;
  /** Sent, heads included. */
  readonly bytes: number;
  /** As logged. */
  readonly status: number;
}

/** Writes to the environment's access log and, at level debug, to the edge's log. */
export function logResponse({ logs, log }: RequestLogs, finished: FinishedRequest): void {
  const { request, response, found, milliseconds } = finished;
  if (typeof found !== "string") logAccess(logs, finished, found);
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
  { request, address, fromPhp, milliseconds, bytes, status }: FinishedRequest,
  { route, path, host }: FoundRoute,
): void {
  logs.access(route.environment.id, {
    address,
    fromPhp,
    at: new Date(),
    method: request.method ?? "GET",
    url: path.url,
    httpVersion: request.httpVersion,
    status,
    bytes,
    referrer: request.headers.referer,
    userAgent: request.headers["user-agent"],
    milliseconds,
    host,
  });
}
