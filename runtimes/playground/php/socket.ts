/**
 * PHP's sockets. Emscripten expects an object like a WebSocket. The library uses a WebSocket to a proxy on a loopback
 * port, which connects anyone to anywhere. This plain socket replaces it: it asks the guard first, and there is no
 * proxy.
 */
import { EventEmitter } from "node:events";
import { connect, type Socket } from "node:net";
import { type Decision, decide, type GuardRules } from "./guard.ts";
import type { HostNames } from "./hostNames.ts";
import type { Connection, PhpSocket, SocketOperations } from "./phpSocket.ts";
import type { OpenStreams, SocketWaiting } from "./socketWaiting.ts";

export interface NetworkRules extends GuardRules {
  /** Path of the Unix socket on which the edge accepts connections of this installation's PHP. */
  readonly edgeSocket: string;
  /** The first line of each connection to the edge. Scripts can't read it: it never enters PHP's memory. */
  readonly credential: string;
}

const connectMilliseconds = 10_000;
/** A refused connection closes after this time if PHP sends nothing on it. */
const refusalMilliseconds = 1000;
const tlsHandshake = 0x16;
/** Bytes of one connection in this process's memory, above which PHP, or the other end, has to wait. */
const maxBufferedBytes = 1_048_576;
/** Emscripten's number of the error "try again". */
const tryAgain = 6;
const pollOut = 4;
/** A TLS record with the fatal alert "access denied". */
const tlsAlert = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x31]);

function connectTo(target: string, port: number): Promise<Socket> {
  const isPath = target.startsWith("/");
  return new Promise((resolve, reject) => {
    const socket = isPath ? connect({ path: target }) : connect({ host: target, port, noDelay: true });
    socket.setTimeout(connectMilliseconds, () => socket.destroy(new Error("connecting took too long")));
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.setTimeout(0);
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

async function open(decision: Decision, port: number, rules: NetworkRules): Promise<Socket> {
  if (decision.to === "edge") {
    const socket = await connectTo(rules.edgeSocket, port);
    socket.write(`${rules.credential}\n`);
    return socket;
  }
  if (decision.to === "nowhere") throw new Error("PHP may not connect there");
  let failure: unknown;
  for (const address of decision.addresses) {
    try {
      return await connectTo(address, port);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function bytesIn(queue: readonly { readonly byteLength: number }[]): number {
  return queue.reduce((bytes, { byteLength }) => bytes + byteLength, 0);
}

/** The part of the WebSocket interface that Emscripten's socket code uses. */
export class GuardedSocket extends EventEmitter implements Connection {
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSING = 2;
  readonly CLOSED = 3;
  readyState = 0;
  binaryType = "arraybuffer";
  #socket: Socket | null = null;
  #isRefused = false;
  readonly #php: PhpSocket;
  readonly #waiting: SocketWaiting;
  selectedForWriting = -1;

  constructor(url: string, rules: NetworkRules, php: PhpSocket, waiting: SocketWaiting) {
    super();
    this.#php = php;
    this.#waiting = waiting;
    const target = new URL(url).searchParams;
    const port = Number(target.get("port"));
    decide(target.get("host") ?? "", port, rules)
      .then((decision) => open(decision, port, rules))
      .then(
        (socket) => this.#opened(socket),
        () => this.#refused(),
      );
  }

  #opened(socket: Socket): void {
    if (this.readyState !== this.CONNECTING) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    this.readyState = this.OPEN;
    socket.on("data", (data: Buffer) => this.#received(data));
    socket.on("drain", () => this.#waiting.changed(this));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#closed());
    this.emit("open");
    this.#waiting.changed(this);
  }

  #received(data: Buffer): void {
    this.emit("message", data, true);
    if (bytesIn(this.#unread()) >= maxBufferedBytes) this.#socket?.pause();
    this.#waiting.changed(this);
  }

  #unread(): readonly Uint8Array[] {
    return this.#php.recv_queue.map(({ data }) => data);
  }

  resume(): void {
    if (this.#socket?.isPaused() && bytesIn(this.#unread()) < maxBufferedBytes / 2) this.#socket.resume();
  }

  get unsentBytes(): number {
    return this.#socket?.writableLength ?? 0;
  }

  /**
   * Opens a refused connection and closes it at the first data. Emscripten has already reported to PHP that it is
   * connected. If it removed a socket that fails before it is open, curl would wait forever. A TLS handshake first gets
   * an alert, because OpenSSL retries on a closed socket.
   */
  #refused(): void {
    if (this.readyState !== this.CONNECTING) return;
    this.readyState = this.OPEN;
    this.#isRefused = true;
    this.emit("open");
    this.#waiting.changed(this);
    setTimeout(() => this.#closed(), refusalMilliseconds);
  }

  #closeRefused(firstByte: number | undefined): void {
    if (firstByte === tlsHandshake) this.#received(tlsAlert);
    setTimeout(() => this.#closed());
  }

  #closed(): void {
    if (this.readyState === this.CLOSED) return;
    this.readyState = this.CLOSED;
    this.emit("close");
    this.#waiting.changed(this);
  }

  send(data: ArrayBuffer | Uint8Array): void {
    const bytes = Buffer.from(data instanceof ArrayBuffer ? new Uint8Array(data) : data);
    if (this.#isRefused) this.#closeRefused(bytes[0]);
    else this.#socket?.write(bytes);
  }

  /** Called by Emscripten for keep-alive and no-delay, neither of which matters here. */
  setSocketOpt(): void {}

  close(): void {
    if (this.readyState >= this.CLOSING) return;
    this.readyState = this.CLOSING;
    this.#waiting.changed(this);
    if (this.#socket === null) this.#closed();
    else this.#socket.end();
  }

  addEventListener(name: string, listener: (...parameters: unknown[]) => void): void {
    this.on(name, listener);
  }

  removeEventListener(name: string, listener: (...parameters: unknown[]) => void): void {
    this.off(name, listener);
  }
}

/** Replaces a listening server: a script that starts one gets no connections and occupies no port. */
class NoServer extends EventEmitter {
  readonly clients = new Set();
  close(): void {}
}

/** The used part of the Emscripten module. */
export interface NetworkedRuntime {
  readonly FS: OpenStreams & { readonly ErrnoError: new (errno: number) => Error };
  readonly websocket: Record<string, unknown>;
  readonly outboundNetworkProxyServer: { close(): void };
}

export interface PhpNetwork {
  readonly waiting: SocketWaiting;
  readonly names: HostNames;
  /** Called at each connection, because a spare worker gets its rules with its environment; null means no network. */
  readonly rules: () => NetworkRules | null;
}

/** Makes PHP wait if the other end receives more slowly than PHP sends. */
function limitSending(operations: SocketOperations, FS: NetworkedRuntime["FS"]): void {
  const { poll, sendmsg } = operations;
  const isFull = ({ peers }: PhpSocket) =>
    Object.values(peers).some((peer) => bytesIn(peer.msg_send_queue) + peer.socket.unsentBytes >= maxBufferedBytes);
  operations.poll = (sock) => (isFull(sock) ? poll(sock) & ~pollOut : poll(sock));
  operations.sendmsg = (sock, ...message) => {
    if (isFull(sock)) throw new FS.ErrnoError(tryAgain);
    return sendmsg(sock, ...message);
  };
}

/** Replaces the library's sockets by guarded ones and closes its proxy. */
export function guardNetwork(runtime: NetworkedRuntime, { waiting, names, rules }: PhpNetwork): void {
  let connecting: PhpSocket | null = null;
  let limited: SocketOperations | null = null;
  waiting.attach(runtime.FS);
  runtime.outboundNetworkProxyServer.close();
  runtime.websocket.decorator = () =>
    class extends GuardedSocket {
      constructor(url: string) {
        const current = rules();
        if (current === null || connecting === null) throw new Error("This PHP has no network");
        super(url, current, connecting, waiting);
      }
    };
  runtime.websocket.serverDecorator = () => NoServer;
  // Emscripten calls this directly before it creates the connection.
  runtime.websocket.url = (sock: PhpSocket, host: string, port: number) => {
    connecting = sock;
    if (limited === null) limitSending(sock.sock_ops, runtime.FS);
    limited = sock.sock_ops;
    return `tcp://php/?${new URLSearchParams({ host: names.targetOf(host), port: String(port) })}`;
  };
}
