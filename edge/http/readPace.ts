/**
 * Passes what clients send with HTTP/1.1 to Node's parser in slices, and pauses a network whose slices take long to parse. The parser calls
 * a function for each chunk of a body: 64 KB, which is one read, can be ten thousand chunks of a single byte, and block everyone for
 * 30 ms. The limit for such bodies (`tinyPieces.ts`) can only begin after the first read, and that is too late if many connections are
 * opened again and again.
 *
 * Slices cost two microseconds for each request, a tenth of a whole response, because Node can't let its parser read from the system
 * directly. So networks that have sent a request are trusted, and new connections from there are read directly, until a chunked
 * body arrives on one of them. That one read is not sliced.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { networkOf } from "./network.ts";
import type { NetworkPace } from "./networkPace.ts";
import { createReadTrust } from "./readTrust.ts";

/** Bytes. At most some 700 chunks. */
const sliceBytes = 4_096;
/** Bytes of a slice within a body of known length, which is a single piece whatever its size. */
const plainSliceBytes = 16_384;
/** Bytes. Smaller reads are passed on at once, unless the body is chunked: most heads are smaller. */
const freeBytes = 1_024;
/** Milliseconds. Parsing a slice of larger chunks rarely takes as long. */
const slowMilliseconds = 0.3;

/**
 * Call it after other listeners have been added. `nameOf` returns the address, or another name, of the client whose network is paused.
 */
export function paceReads(server: Server, pace: NetworkPace, nameOf: (socket: Socket) => string): void {
  const connections = new WeakMap<Socket, Connection>();
  const trust = createReadTrust<Socket>();
  const slice = (socket: Socket) =>
    slicePushes(socket, nameOf(socket), pace, () => connections.get(socket)?.request ?? null);
  const note = (request: IncomingMessage) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    const isFirst = connection.request === null;
    connection.request = request;
    if (isChunked(request)) for (const direct of trust.noteChunks(connection.network)) slice(direct);
    else if (isFirst) trust.noteRequest(connection.network);
  };
  server.prependListener("request", note);
  // Without a listener, Node answers such requests itself and then emits the other event.
  if (server.listenerCount("checkContinue") > 0) server.prependListener("checkContinue", note);
  server.on("connection", (socket: Socket) => {
    const network = networkOf(nameOf(socket));
    connections.set(socket, { network, request: null });
    if (!trust.take(network, socket)) return slice(socket);
    socket.once("close", () => trust.release(network, socket));
  });
}

interface Connection {
  readonly network: string;
  /** The latest one. */
  request: IncomingMessage | null;
}

const isChunked = (request: IncomingMessage | null) => request?.headers["transfer-encoding"] !== undefined;

function slicePushes(socket: Socket, name: string, pace: NetworkPace, requestOf: () => IncomingMessage | null): void {
  const push = socket.push.bind(socket);
  const read = socket._read.bind(socket);
  /** Slices that have not been parsed yet. Null: the end. */
  const waiting: (Buffer | null)[] = [];
  let isPassing = false;
  let isSlow = false;
  let isReadWanted = false;

  function sizeOfSlices(): number {
    const request = requestOf();
    return request === null || request.complete || isChunked(request) ? sliceBytes : plainSliceBytes;
  }

  /** Returns the milliseconds that it took. */
  function parse(slice: Buffer): number {
    const begun = performance.now();
    push(slice);
    const took = performance.now() - begun;
    isSlow = took > slowMilliseconds && isChunked(requestOf());
    return took;
  }

  /** Parses a slice when its client may go on. */
  async function parseInTurn(slice: Buffer): Promise<void> {
    const end = await pace.turn(name);
    const took = parse(slice);
    end(isSlow ? took : 0);
  }

  async function pass(): Promise<void> {
    isPassing = true;
    for (let slice = waiting.shift(); slice !== undefined && !socket.destroyed; slice = waiting.shift()) {
      if (slice === null) push(null);
      // The parser would fail again after a broken request, which has been answered.
      else if (socket.writableEnded) continue;
      else {
        // A paused socket would buffer its slices, and later have them parsed in one go.
        if (socket.isPaused()) await untilResumed(socket);
        if (isSlow || pace.isPaused(name)) await parseInTurn(slice);
        else {
          const took = parse(slice);
          if (isSlow) pace.charge(name, took);
        }
      }
    }
    isPassing = false;
    if (isReadWanted) read(sliceBytes);
    isReadWanted = false;
  }

  socket.push = (chunk: Buffer | null) => {
    if (!isPassing && (chunk === null || (chunk.length <= freeBytes && !isChunked(requestOf())))) return push(chunk);
    waiting.push(...(chunk === null ? [null] : slicesOf(chunk, sizeOfSlices())));
    if (!isPassing) void pass();
    return !isPassing && socket.readableLength < socket.readableHighWaterMark;
  };
  // Node would read on as soon as the first slice has been parsed, and keep more and more of them.
  socket._read = (size) => {
    if (isPassing) isReadWanted = true;
    else read(size);
  };
  // Without a listener, Node would pass data directly to the parser, and not call `push`.
  socket.on("data", () => undefined);
}

/** Resolves when the socket passes data on again, or has closed. */
function untilResumed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      socket.off("resume", settle).off("close", settle);
      resolve();
    };
    socket.on("resume", settle).on("close", settle);
  });
}

function slicesOf(bytes: Buffer, size: number): readonly Buffer[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}
