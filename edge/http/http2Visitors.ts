/** The server for visitors who speak HTTP/2: bounds on what one connection may ask for, and answers like all others'. */
import { createServer, type Http2Server, type Http2ServerRequest, type ServerHttp2Session } from "node:http2";
import type { Limits } from "../limits.ts";
import { Http2Answer } from "./http2Answer.ts";
import type { VisitorRequest, VisitorResponse } from "./visitorHttp.ts";

export interface Handler {
  answer(request: VisitorRequest, response: VisitorResponse): void;
  /** Whether a client that sends `Expect: 100-continue` may send its body. */
  isWelcome(request: VisitorRequest): boolean;
}

export interface Http2Bounds {
  /** Of one head; in bytes. */
  readonly headBytes: number;
  /** After which a connection without a request is closed. */
  readonly idleMilliseconds: number;
}

/** As many as browsers and other servers expect, and no connection may occupy more of PHP than its site has turns for. */
const streamsAtOnce = 100;
/** How much of an upload is accepted before it is read. */
const windowBytes = 256 * 1024;

/** Not listening: it is given connections. What a connection may waste otherwise is bounded by Node: pings, settings, resets. */
export function createHttp2VisitorServer(handler: Handler, limits: Limits, bounds: Http2Bounds): Http2Server {
  const settings = {
    maxConcurrentStreams: streamsAtOnce,
    maxHeaderListSize: bounds.headBytes,
    initialWindowSize: windowBytes,
    enablePush: false,
  };
  const server = createServer({ settings });
  server.on("session", (session) => closeWhenSilent(session, limits, bounds.idleMilliseconds));
  server.on("request", (request, { stream }) => {
    prepare(request, limits.requestSeconds);
    if (isTooLong(request, bounds.headBytes)) return stream.respond({ ":status": 431 }, { endStream: true });
    handler.answer(request, new Http2Answer(stream, request.method === "HEAD"));
  });
  server.on("checkContinue", (request, response) => {
    prepare(request, limits.requestSeconds);
    if (handler.isWelcome(request)) response.writeContinue();
    handler.answer(request, new Http2Answer(response.stream, request.method === "HEAD"));
  });
  return server;
}

/** Enforced here: clients may ignore the limit in the settings. */
function isTooLong({ rawHeaders }: Http2ServerRequest, headBytes: number): boolean {
  return rawHeaders.reduce((sum, text) => sum + text.length, 0) > headBytes;
}

/** A visitor who leaves in the middle of an upload has not sent a whole one, and one who sends slowly isn't waited for. */
function prepare(request: Http2ServerRequest, requestSeconds: number): void {
  const { stream } = request;
  request.on("error", () => undefined);
  request.on("aborted", () => request.destroy(new Error("The visitor has left")));
  if (stream.endAfterHeaders) return;
  const late = setTimeout(() => stream.close(), requestSeconds * 1000);
  const over = () => clearTimeout(late);
  request.once("end", over);
  stream.once("close", over);
}

/** Asked to go while it has no request, with a word that it may ask again; ended where nothing moves in the middle of one. */
function closeWhenSilent(session: ServerHttp2Session, { silenceSeconds }: Limits, idleMilliseconds: number): void {
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
