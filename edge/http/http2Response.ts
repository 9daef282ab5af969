/** An HTTP/2 response with the interface of an HTTP/1.1 response. */
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { Writable } from "node:stream";
import type { VisitorResponse } from "./visitorHttp.ts";

/** Connection headers of HTTP/1.1, which make an HTTP/2 response malformed (RFC 9113, section 8.2.2). */
const ofConnections = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);
const bodiless = new Set([204, 205, 304]);

type Head = Readonly<Record<string, string | number>> | string[];
type Done = (error?: Error | null) => void;

export class Http2Response extends Writable implements VisitorResponse {
  statusCode = 200;
  headersSent = false;
  strictContentLength = false;
  bytesSent = 0;
  readonly #stream: ServerHttp2Stream;
  readonly #isToHead: boolean;
  #isBodiless = false;
  #isBroken = false;
  /** Remaining bytes of the announced length; null if none was announced. */
  #remaining: number | null = null;

  constructor(stream: ServerHttp2Stream, isToHead: boolean) {
    super();
    this.#stream = stream;
    this.#isToHead = isToHead;
    // `close` reports the failure, as with HTTP/1.1.
    this.on("error", () => undefined);
    stream.once("close", () => this.destroy());
  }

  writeHead(status: number, head: Head = {}): this {
    this.statusCode = status;
    this.headersSent = true;
    this.#isBodiless = this.#isToHead || bodiless.has(status);
    if (this.#stream.destroyed || this.#stream.closed) return this;
    const headers = asHttp2(head);
    const length = headers["content-length"];
    this.#remaining = length === undefined || this.#isBodiless ? null : Number(length);
    // Otherwise Node ends an aborted stream normally, and an incomplete response would look complete.
    this.#stream.respond({ ...headers, ":status": status }, { waitForTrailers: !this.#isBodiless });
    this.#stream.removeAllListeners("wantTrailers").once("wantTrailers", () => {
      if (!this.#isBroken) this.#stream.sendTrailers({});
    });
    this.bytesSent += bytesOf(headers);
    return this;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (this.#remaining !== null) this.#remaining -= chunk.length;
    if (this.#isBodiless) done();
    else if (this.#hasWrongLength((missing) => missing < 0)) done(new Error("The response is longer than announced"));
    else this.#send(chunk, done);
  }

  override _final(done: Done): void {
    if (!this.headersSent) this.writeHead(this.statusCode);
    if (this.#isBodiless) done();
    else if (this.#hasWrongLength((missing) => missing > 0)) done(new Error("The response is shorter than announced"));
    else this.#stream.end(() => done());
  }

  override _destroy(error: Error | null, done: Done): void {
    const { endAfterHeaders, readableEnded } = this.#stream;
    this.#isBroken = !this.writableFinished;
    if (this.#isBroken) this.#stream.destroy(error ?? new Error("The response was aborted"));
    // The response is complete, so the rest of the request is not needed (RFC 9113, section 8.1).
    else if (!endAfterHeaders && !readableEnded) this.#stream.close(constants.NGHTTP2_NO_ERROR);
    done(error);
  }

  #send(chunk: Buffer, done: Done): void {
    this.#stream.write(chunk, (error) => {
      if (!error) this.bytesSent += chunk.length;
      done(error);
    });
  }

  #hasWrongLength(isWrong: (missing: number) => boolean): boolean {
    return this.strictContentLength && this.#remaining !== null && isWrong(this.#remaining);
  }
}

/** Lower-case names, each once. Repeated headers are joined by commas, except cookies (RFC 9110, section 5.3). */
function asHttp2(head: Head): OutgoingHttpHeaders {
  const headers: Record<string, string | number | string[]> = {};
  for (const [name, value] of Array.isArray(head) ? pairs(head) : Object.entries(head)) {
    const lower = name.toLowerCase();
    const before = headers[lower];
    if (ofConnections.has(lower)) continue;
    if (lower === "set-cookie") headers[lower] = [...(Array.isArray(before) ? before : []), String(value)];
    else headers[lower] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}

function pairs(flat: readonly string[]): (readonly [name: string, value: string])[] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ""] as const] : []));
}

/** Approximate size, as in HTTP/1.1. The compressed size depends on earlier responses. */
function bytesOf(headers: OutgoingHttpHeaders): number {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}`),
  );
  return lines.reduce((sum, line) => sum + Buffer.byteLength(line, "latin1") + 2, 0);
}
