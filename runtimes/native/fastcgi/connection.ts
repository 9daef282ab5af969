/**
 * One connection to php-fpm, which runs one request at a time and keeps the connection. As long as it is open, one child of
 * php-fpm belongs to it.
 */
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { Readable } from "node:stream";
import {
  beginRequest,
  createRecordReader,
  endOfInput,
  inputRecords,
  ProtocolError,
  recordTypes,
  requestComplete,
} from "./records.ts";
import { createHeadReader, type ResponseHead } from "./responseHead.ts";

/**
 * How much of a response is buffered for a slow reader, which frees PHP for others. Beyond it, PHP waits.
 */
const responseBufferBytes = 16 << 20;

/**
 * There is no response.
 *
 * - `notSent`: the connection could not be made, or had ended before the request.
 * - `lost`: it ended during the request, which PHP may have begun.
 * - `invalid`: PHP's response is damaged.
 */
export class NoResponse extends Error {
  override readonly name = "NoResponse";
  readonly reason: "notSent" | "lost" | "invalid";
  constructor(reason: NoResponse["reason"], cause: Error) {
    super(cause.message, { cause });
    this.reason = reason;
  }
}

export interface FastCgiRequest {
  /** CGI variables, such as `SCRIPT_FILENAME`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Complete, so that PHP never waits for a visitor. */
  readonly body: AsyncIterable<Uint8Array> | null;
  /** Called with each piece of PHP's log output. */
  readonly onErrors: (piece: Buffer) => void;
  /** Whether the caller ends the body of a complete response, by `push(null)`. Absent: it ends by itself. */
  readonly holdsEnd?: boolean;
  /** Called when PHP has to wait for a slow reader, and when it goes on. */
  readonly onPace?: () => void;
  /** Returns the error that a body ends with if it breaks off. Absent: the cause. */
  readonly explain?: (cause: Error) => Error;
}

export interface FastCgiResponse extends ResponseHead {
  /** Ends with an error if the response breaks off. PHP waits while it is not read; destroying it discards the rest. */
  readonly body: Readable;
  /** Resolves when PHP has finished the request: with whether it is complete. Never rejects. */
  readonly finished: Promise<boolean>;
}

/** A request that is being run. */
interface Exchange {
  readonly resolve: (response: FastCgiResponse) => void;
  readonly reject: (error: Error) => void;
  readonly request: FastCgiRequest;
  readonly head: ReturnType<typeof createHeadReader>;
  readonly finished: PromiseWithResolvers<boolean>;
  body: Readable | null;
  /** Whether PHP has sent anything. */
  hasAnswered: boolean;
}

export class FastCgiConnection {
  readonly #socket: Socket;
  /** Resolves when the connection is closed, for any reason. */
  readonly closed: Promise<void>;
  #exchange: Exchange | null = null;
  #isConnected = false;
  #failure: Error | null = null;
  /** Whether the body of a request has not been sent completely. */
  #isSending = false;

  /** `path`: a Unix socket. php-fpm closes a new connection that has no request for five seconds. */
  constructor(path: string) {
    const closed = Promise.withResolvers<void>();
    this.closed = closed.promise;
    this.#socket = createConnection({ path });
    const read = createRecordReader(({ type, content }) => this.#take(type, content));
    this.#socket.on("data", (chunk) => {
      try {
        read(chunk);
      } catch (error) {
        this.#fail(error instanceof Error ? error : new Error(String(error)));
      }
    });
    this.#socket.once("connect", () => {
      this.#isConnected = true;
    });
    this.#socket.on("error", (error) => this.#fail(error));
    this.#socket.once("close", () => {
      this.#fail(new Error("The connection to PHP ended."));
      closed.resolve();
    });
  }

  /**
   * Runs a request; the previous one must be finished. Rejects with `NoResponse` if the connection ends before the response
   * begins, and with `ProtocolError` if a parameter is too long.
   */
  async request(request: FastCgiRequest): Promise<FastCgiResponse> {
    if (this.#exchange !== null) throw new Error("The connection is busy.");
    if (this.#failure !== null) throw new NoResponse("notSent", this.#failure);
    const begin = beginRequest(request.parameters);
    // The previous response may not have been read to its end.
    this.#socket.resume();
    return new Promise((resolve, reject) => {
      const finished = Promise.withResolvers<boolean>();
      this.#exchange = { resolve, reject, request, head: createHeadReader(), finished, body: null, hasAnswered: false };
      this.#send(begin, request.body).catch((error: unknown) =>
        this.#fail(error instanceof Error ? error : new Error(String(error))),
      );
    });
  }

  /** Closes the connection at once. php-fpm ends the script when it next writes. */
  close(): void {
    this.#socket.destroy();
  }

  async #send(begin: Buffer, body: FastCgiRequest["body"]): Promise<void> {
    // Without the empty record for the end of the body, which PHP would leave unread: see `#reasonOf`.
    if (body === null) return void this.#socket.write(begin);
    this.#isSending = true;
    this.#socket.write(begin);
    for await (const piece of body) {
      // PHP may have responded without reading the body.
      if (this.#socket.destroyed || this.#exchange === null) return;
      if (!this.#socket.write(inputRecords(piece))) await untilDrained(this.#socket);
    }
    this.#socket.write(endOfInput);
    this.#isSending = false;
  }

  #take(type: number, content: Buffer): void {
    const exchange = this.#exchange;
    if (exchange === null) throw new ProtocolError("PHP sent something without a request.");
    exchange.hasAnswered = true;
    if (type === recordTypes.output) this.#takeOutput(exchange, content);
    else if (type === recordTypes.errors) exchange.request.onErrors(Buffer.from(content));
    else if (type === recordTypes.endRequest) this.#end(exchange, content);
  }

  #takeOutput(exchange: Exchange, content: Buffer): void {
    const found = exchange.body === null ? exchange.head.read(content) : null;
    if (exchange.body !== null) this.#passOn(exchange, content);
    if (found === null) return;
    const body = new Readable({ highWaterMark: responseBufferBytes, read: () => this.#resume(exchange) });
    // A response that nobody reads to its end must not end this process.
    body.on("error", () => undefined);
    body.once("close", () => this.#resume(exchange));
    exchange.body = body;
    exchange.resolve({ ...found.head, body, finished: exchange.finished.promise });
    this.#passOn(exchange, found.rest);
  }

  #passOn({ body, request }: Exchange, content: Buffer): void {
    if (body === null || content.length === 0 || body.destroyed) return;
    if (body.push(Buffer.from(content))) return;
    this.#socket.pause();
    request.onPace?.();
  }

  #resume(exchange: Exchange): void {
    const { request } = exchange;
    // The reader of an earlier response does not determine the pace of this one.
    const isOther = this.#exchange !== null && this.#exchange !== exchange;
    if (isOther || !this.#socket.isPaused()) return;
    request.onPace?.();
    this.#socket.resume();
  }

  #end(exchange: Exchange, content: Buffer): void {
    const status = content.length < 8 ? null : content.readUInt8(4);
    if (status !== requestComplete) throw new ProtocolError(`php-fpm refused the request (status ${status}).`);
    this.#exchange = null;
    if (exchange.body === null)
      exchange.reject(new NoResponse("invalid", new ProtocolError("PHP's response has no headers.")));
    if (exchange.request.holdsEnd !== true) exchange.body?.push(null);
    exchange.finished.resolve(exchange.body !== null);
    // php-fpm would take the rest of the body for the next request.
    if (this.#isSending) this.#fail(new ProtocolError("PHP ended the request before it had all of the body."));
  }

  #reasonOf(error: Error, { request: { body }, hasAnswered }: Exchange): NoResponse["reason"] {
    // The child died before it had read all of the request: that is the only unread data that resets a connection.
    const isUnread = "code" in error && (error.code === "EPIPE" || error.code === "ECONNRESET");
    if (!this.#isConnected || (isUnread && body === null && !hasAnswered)) return "notSent";
    return error instanceof ProtocolError ? "invalid" : "lost";
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
    const exchange = this.#exchange;
    if (exchange === null) return;
    this.#exchange = null;
    if (exchange.body === null) exchange.reject(new NoResponse(this.#reasonOf(error, exchange), error));
    exchange.body?.destroy(exchange.request.explain?.(error) ?? error);
    exchange.finished.resolve(false);
  }
}

/** Resolves when the socket takes more data, or is closed. */
async function untilDrained(socket: Socket): Promise<void> {
  const stop = new AbortController();
  await Promise.race([once(socket, "drain", stop), once(socket, "close", stop)]).catch(() => undefined);
  stop.abort();
}
