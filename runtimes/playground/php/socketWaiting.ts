/**
 * How PHP waits for its sockets. The library's functions wait for a timer even if there is nothing to wait for, and cURL calls
 * three of them for each piece that it reads: with the buffer of one kilobyte that WordPress gives it, it read 400 KB per
 * second. These functions return as soon as a socket's state changes.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Connection, PhpSocket } from "./phpSocket.ts";

const pollIn = 1;
const pollOut = 4;
const pollError = 8;
const pollHangUp = 16;
/** What PHP's `select` asks for if its caller wants to read. */
const readOrWrite = pollIn | pollOut;

const forever = -1;
/** How long `select` waits for one of several sockets before it looks at the next. */
const sharedMilliseconds = 10;
/** How long `select` waits for data if it has no timeout: perhaps its caller wants to write. */
const endlessMilliseconds = 1000;
/** How often a pipe is looked at, as it reports no changes. */
const pipeMilliseconds = 10;

interface OpenStream {
  readonly node: { readonly sock?: PhpSocket };
  readonly stream_ops: { poll?(stream: OpenStream, timeout: number): number };
}

/** The used part of Emscripten's file system. */
export interface OpenStreams {
  getStream(descriptor: number): OpenStream | null;
}

function isReady(stream: OpenStream, events: number): boolean {
  const state = stream.stream_ops.poll?.(stream, forever) ?? events;
  return (state & (events | pollError | pollHangUp)) !== 0;
}

async function pollPipe(stream: OpenStream, events: number, milliseconds: number): Promise<number> {
  for (let waited = 0; !isReady(stream, events); waited += pipeMilliseconds) {
    if (milliseconds !== forever && waited >= milliseconds) return 0;
    await delay(pipeMilliseconds);
  }
  return 1;
}

export class SocketWaiting {
  #streams: OpenStreams | null = null;
  readonly #sockets = new Set<Connection>();
  readonly #waiters = new Set<() => void>();
  #changes = 0;
  /** The number of the current `select`, and the number of changes when it began. */
  #select = 0;
  #changesAtSelect = 0;

  attach(streams: OpenStreams): void {
    this.#streams = streams;
  }

  /** Call after each change of a socket's state. */
  changed(socket: Connection): void {
    if (socket.readyState < socket.CLOSING) this.#sockets.add(socket);
    else this.#sockets.delete(socket);
    this.#changes += 1;
    for (const look of [...this.#waiters]) look();
  }

  /** Replaces `emscripten_sleep`. PHP's `select` begins with a sleep of 0 ms, in which Node receives data. */
  async sleep(milliseconds: number): Promise<void> {
    if (milliseconds > 0) {
      await delay(milliseconds);
      return;
    }
    this.#select += 1;
    this.#changesAtSelect = this.#changes;
    for (const socket of this.#sockets) socket.resume();
    await new Promise((resolve) => setImmediate(resolve));
  }

  /**
   * Replaces `wasm_poll_socket`. Returns 1 when the descriptor is ready for one of the events, and 0 after `milliseconds`; -1
   * waits forever.
   */
  poll(descriptor: number, events: number, milliseconds: number): number | Promise<number> {
    const stream = this.#streams?.getStream(descriptor);
    if (!stream?.stream_ops.poll) return 1;
    const { sock } = stream.node;
    if (sock === undefined) return pollPipe(stream, events, milliseconds);
    const sockets = Object.values(sock.peers).map(({ socket }) => socket);
    for (const socket of sockets) {
      socket.resume();
      if (events === pollOut) socket.selectedForWriting = this.#select;
    }
    if (events === readOrWrite) return this.#pollForReading(stream, sockets, milliseconds);
    // `select` asks for errors last. By then, something has happened or the time is up.
    return this.#wait(() => isReady(stream, events), events === pollError ? 0 : milliseconds);
  }

  /**
   * `select` asks for one descriptor after the other, for POLLIN and POLLOUT if its caller wants to read, and then for POLLOUT if
   * its caller wants to write too. A socket is nearly always writable. If that were enough, callers that only want to read would
   * keep the processor busy until there is something to read. So it is enough only if the previous `select` was for writing too.
   */
  #pollForReading(stream: OpenStream, sockets: readonly Connection[], milliseconds: number): number | Promise<number> {
    const isReadable = () => isReady(stream, pollIn);
    const isWritable = () => isReady(stream, pollOut);
    if (sockets.some(({ selectedForWriting }) => selectedForWriting === this.#select - 1) && isWritable()) return 1;
    if (milliseconds === 0 || isReadable()) return Number(isReadable());
    if (this.#sockets.size < 2 && milliseconds !== forever) return this.#wait(isReadable, milliseconds);
    // Waits for a short time, because another socket may be ready, or writing may be what the caller waits for.
    const before = this.#sockets.size < 2 ? this.#changes : this.#changesAtSelect;
    const limit = this.#sockets.size < 2 ? endlessMilliseconds : sharedMilliseconds;
    const isOver = () => isReadable() || this.#changes !== before;
    return this.#wait(isOver, milliseconds === forever ? limit : Math.min(limit, milliseconds), isWritable);
  }

  /** Waits until `isOver` is true. Then, or after `milliseconds`, returns 1 if `result` is true. */
  #wait(isOver: () => boolean, milliseconds: number, result: () => boolean = isOver): number | Promise<number> {
    if (isOver() || milliseconds === 0) return Number(result());
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiters.delete(look);
        resolve(Number(result()));
      };
      const look = () => {
        if (isOver()) end();
      };
      const timer = milliseconds === forever ? undefined : setTimeout(end, milliseconds);
      this.#waiters.add(look);
    });
  }
}
