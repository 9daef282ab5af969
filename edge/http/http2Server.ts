/** The HTTP/2 server for visitors, with limits per connection. */
import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import { expectContinue } from "./expectations.ts";
import { Http2Response } from "./http2Response.ts";
import type { Limits } from "./limits.ts";
import type { NetworkCounts } from "./networkCounts.ts";
import type { VisitorRequest, VisitorResponse, VisitorSocket } from "./visitorHttp.ts";

export interface Handler {
  answer(request: VisitorRequest, response: VisitorResponse): void;
  /** Counts the requests that are being answered, by client. */
  readonly open: NetworkCounts;
  /** Returns the client's address, or another name of it. */
  clientOf(socket: VisitorSocket): string;
}

interface Http2Limits {
  /** Limit for the head of a request. */
  readonly headBytes: number;
  /** A connection without requests is closed after this time. */
  readonly idleMilliseconds: number;
}

/** What browsers and other servers expect. A connection can't occupy more of PHP than its site's limits allow. */
const maxStreams = 100;
/** How much of an upload is buffered before it is read. */
const windowBytes = 256 * 1024;

/** Creates a server that doesn't listen but is given connections. Node itself limits pings, settings and resets. */
export function createHttp2VisitorServer(handler: Handler, limits: Limits, bounds: Http2Limits): Http2Server {
  const settings = {
    maxConcurrentStreams: maxStreams,
    maxHeaderListSize: bounds.headBytes,
    initialWindowSize: windowBytes,
    enablePush: false,
  };
  const server = createServer({ settings });
  server.on("session", (session) => closeWhenInactive(session, limits, bounds.idleMilliseconds));
  const receive = (request: Http2ServerRequest, stream: ServerHttp2Stream) => {
    watchUpload(request, limits.requestSeconds);
    if (!handler.open.add(handler.clientOf(request.socket), stream))
      return stream.close(constants.NGHTTP2_REFUSED_STREAM);
    if (isHeadTooLong(request, bounds.headBytes)) return stream.respond({ ":status": 431 }, { endStream: true });
    handler.answer(request, new Http2Response(stream, request.method === "HEAD"));
  };
  server.on("request", (request, { stream }) => receive(request, stream));
  server.on("checkContinue", (request, response) => {
    expectContinue(request, () => response.writeContinue());
    receive(request, response.stream);
  });
  return server;
}

/** Enforced here because clients may ignore the limit in the settings. */
function isHeadTooLong({ rawHeaders }: Http2ServerRequest, headBytes: number): boolean {
  return rawHeaders.reduce((sum, text) => sum + text.length, 0) > headBytes;
}

/** Reports aborted uploads as errors, and closes the stream if an upload takes too long. */
function watchUpload(request: Http2ServerRequest, requestSeconds: number): void {
  const { stream } = request;
  request.on("error", () => undefined);
  request.on("aborted", () => request.destroy(new Error("The visitor has left")));
  if (stream.endAfterHeaders) return;
  const timeout = setTimeout(() => stream.close(), requestSeconds * 1000);
  const stopTimeout = () => clearTimeout(timeout);
  request.once("end", stopTimeout);
  stream.once("close", stopTimeout);
}

/** On a timeout, closes an idle connection gracefully and destroys one with a stalled request. */
function closeWhenInactive(session: ServerHttp2Session, { silenceSeconds }: Limits, idleMilliseconds: number): void {
  let open = 0;
  session.setTimeout(idleMilliseconds);
  session.on("stream", (stream) => {
    open += 1;
    session.setTimeout(silenceSeconds * 1000);
    stream.once("close", () => {
      open -= 1;
      if (open === 0 && !session.destroyed) session.setTimeout(idleMilliseconds);
    });
  });
  session.on("timeout", () => {
    if (open === 0 && !session.closed) session.close();
    else session.destroy();
  });
}
