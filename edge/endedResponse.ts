/** Counts and logs responses that have ended. */
import type { VisitorSocket } from "./http/visitorHttp.ts";
import type { EdgeParts } from "./parts.ts";
import { type FinishedRequest, logResponse } from "./requestLog.ts";
import { payerOf } from "./visit/claimant.ts";

/** The status that nginx logs if the visitor leaves before the response. */
const clientClosedRequest = 499;

export function noteResponse(
  parts: Pick<EdgeParts, "answerTimes" | "analytics" | "log" | "logs">,
  ended: Omit<FinishedRequest, "bytes" | "status">,
): void {
  const { response, socket, fromPhp, found, milliseconds } = ended;
  const bytes = response.bytesSent ?? bytesSinceLastResponse(socket);
  const status = response.headersSent ? response.statusCode : clientClosedRequest;
  const finished = { ...ended, bytes, status };
  if (!fromPhp) {
    parts.answerTimes.note(response.statusCode, milliseconds);
    if (typeof found !== "string") {
      const { environment } = found.route;
      parts.analytics.note({ environmentId: environment.id, companyId: payerOf(environment) }, finished);
    }
  }
  logResponse(parts, finished);
}

const lastBytesWritten = new WeakMap<VisitorSocket, number>();

/** Bytes of an HTTP/1.1 response: a connection sends its responses one after the other. */
function bytesSinceLastResponse(socket: VisitorSocket): number {
  const sent = socket.bytesWritten;
  const before = lastBytesWritten.get(socket) ?? 0;
  lastBytesWritten.set(socket, sent);
  return sent - before;
}
