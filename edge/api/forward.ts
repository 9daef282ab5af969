/** Passes a request on to the control process, and streams the response back. */
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { askForBody } from "../http/expectations.ts";
import { toUpstream, toVisitor } from "../http/headers.ts";
import { hasBody, refuseBody } from "../http/uploads.ts";
import type { VisitorRequest, VisitorResponse } from "../http/visitorHttp.ts";
import { connectPatiently } from "./connect.ts";
import { errorPage } from "./errorPage.ts";

interface Forwarded {
  readonly request: VisitorRequest;
  readonly response: VisitorResponse;
  readonly url: string;
  /** The API's name, and the port unless it is the usual one. */
  readonly host: string;
  /** The client's IP address. */
  readonly address: string;
  readonly https: boolean;
  readonly socket: string;
  /** How long a request waits while nobody listens on the socket. */
  readonly patienceMs: number;
}

const retryAfterSeconds = 5;
/** Browsers then use TLS without being redirected first. */
const strictTransport = ["Strict-Transport-Security", "max-age=31536000"];

/** Resolves when the response has ended, or was cut off. */
export async function forward(forwarded: Forwarded): Promise<void> {
  const { request, response, socket, patienceMs } = forwarded;
  const left = new AbortController();
  const ended = new Promise<void>((resolve) => response.once("close", resolve)).then(() => left.abort());
  request.once("error", () => left.abort());
  const connection = await connectPatiently(socket, { milliseconds: patienceMs, signal: left.signal });
  if (left.signal.aborted || response.destroyed) {
    connection?.destroy();
    return;
  }
  if (connection === null) refuseUnavailable(request, response);
  else send(forwarded, connection);
  return ended;
}

/** A connection is for one request: on a local socket it costs little, and an idle one may be closed at any time. */
function send(forwarded: Forwarded, connection: Socket): void {
  const { request, response, url } = forwarded;
  const upstream = httpRequest({
    createConnection: () => connection,
    method: request.method ?? "GET",
    path: url,
    headers: headersOf(forwarded),
    setHost: false,
  });
  upstream.once("response", (answer) => {
    sendBack(answer, response);
    // The API may answer before it has read the body. The rest is discarded, so that the client gets to read the answer.
    answer.once("end", () => {
      request.unpipe(upstream).resume();
      upstream.destroy();
    });
  });
  // After the head of the answer, its own end says whether it is complete.
  upstream.on("error", () => {
    if (!response.headersSent && !response.destroyed) refuseUnavailable(request, response);
  });
  response.once("close", () => upstream.destroy());
  // Not `pipeline`, which would close the client's connection if the API answers before it has read the body.
  if (hasBody(request)) {
    askForBody(request);
    request.once("error", () => upstream.destroy()).pipe(upstream);
  } else upstream.end();
}

/** The address and the scheme come from this connection: the client's own headers of that kind have been removed. */
function headersOf({ request, host, address, https }: Forwarded): OutgoingHttpHeaders {
  const own = Object.entries(toUpstream(request, host)).map(([name, value]) => [
    name,
    typeof value === "string" ? value : [...value],
  ]);
  const headers: OutgoingHttpHeaders = {
    ...Object.fromEntries(own),
    "x-forwarded-for": address,
    "x-forwarded-proto": https ? "https" : "http",
    "x-forwarded-host": host,
    // The edge closes the connection after the answer. If the API did, it could lose an answer to a body that it did not read.
    connection: "keep-alive",
  };
  // Node adds this for some methods only. Without it, the API would read the body as the next request.
  if (hasBody(request) && headers["content-length"] === undefined) headers["transfer-encoding"] = "chunked";
  return headers;
}

function sendBack(answer: IncomingMessage, response: VisitorResponse): void {
  const { rawHeaders } = answer;
  const headers = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ""] as const] : []));
  response.writeHead(answer.statusCode ?? 502, [...toVisitor(headers), ...strictTransport]);
  // If the API stops in the middle, the response is cut off too, so that it does not look complete.
  pipeline(answer, response, () => undefined);
}

function refuseUnavailable(request: VisitorRequest, response: VisitorResponse): void {
  const message =
    "The API is not available at the moment, probably because it is restarting. Try again in a few seconds.";
  void refuseBody(request, response, errorPage(503, message, { "retry-after": retryAfterSeconds }));
}
