/**
 * PHP's sockets. Emscripten wants something that looks like a WebSocket; the library answers with a WebSocket
 * to a proxy on a loopback port, which connects anywhere for anybody. This is a plain socket in its place,
 * which asks the guard first, and there is no proxy.
 */
import { EventEmitter } from "node:events";
import { connect, type Socket } from "node:net";
import { type Decision, decide, type GuardRules } from "./guard.ts";

export interface NetworkRules extends GuardRules {
  /** Path of the Unix socket on which the edge takes the requests of this installation's own PHP. */
  readonly edgeSocket: string;
}

const connectMilliseconds = 10_000;
/** After which a refused connection closes, if PHP says nothing on it. */
const refusalMilliseconds = 1000;
const tlsHandshake = 0x16;
/** A record with the fatal alert "access denied". */
const tlsAlert = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x31]);

function connectTo(target: string, port: number): Promise<Socket> {
  const isPath = target.startsWith("/");
  return new Promise((resolve, reject) => {
    const socket = isPath ? connect({ path: target }) : connect({ host: target, port });
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
  if (decision.to === "edge") return connectTo(rules.edgeSocket, port);
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

/** The part of a WebSocket's face that Emscripten's socket code looks at. */
class GuardedSocket extends EventEmitter {
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSING = 2;
  readonly CLOSED = 3;
  readyState = 0;
  binaryType = "arraybuffer";
  #socket: Socket | null = null;
  #isRefused = false;

  constructor(url: string, rules: NetworkRules) {
    super();
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
    socket.on("data", (data: Buffer) => this.emit("message", data, true));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#closed());
    this.emit("open");
  }

  /**
   * Emscripten has told PHP already that the connection stands, and removes a socket that fails before it was
   * open so thoroughly that curl waits for it for ever. So a refused connection opens, and closes at the first
   * word. To a TLS greeting it says so first: OpenSSL takes a closed socket for one to be tried again.
   */
  #refused(): void {
    if (this.readyState !== this.CONNECTING) return;
    this.readyState = this.OPEN;
    this.#isRefused = true;
    this.emit("open");
    setTimeout(() => this.#closed(), refusalMilliseconds);
  }

  #dismiss(firstByte: number | undefined): void {
    if (firstByte === tlsHandshake) this.emit("message", tlsAlert, true);
    setTimeout(() => this.#closed());
  }

  #closed(): void {
    if (this.readyState === this.CLOSED) return;
    this.readyState = this.CLOSED;
    this.emit("close");
  }

  send(data: ArrayBuffer | Uint8Array): void {
    const bytes = Buffer.from(data instanceof ArrayBuffer ? new Uint8Array(data) : data);
    if (this.#isRefused) this.#dismiss(bytes[0]);
    else this.#socket?.write(bytes);
  }

  /** Wanted by Emscripten for keep-alive and no-delay, neither of which matters here. */
  setSocketOpt(): void {}

  close(): void {
    if (this.readyState >= this.CLOSING) return;
    this.readyState = this.CLOSING;
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

/** Replaces a listening server: a script that starts one gets no connections, and takes no port. */
class NoServer extends EventEmitter {
  readonly clients = new Set();
  close(): void {}
}

/** What of the Emscripten module is used here. */
export interface NetworkedRuntime {
  readonly websocket: Record<string, unknown>;
  readonly outboundNetworkProxyServer: { close(): void };
}

/**
 * Puts our sockets in the place of the library's and closes its proxy. `rules` is asked at each connection,
 * because a spare worker learns them only when it gets its environment; null means no network.
 */
export function guardNetwork(runtime: NetworkedRuntime, rules: () => NetworkRules | null): void {
  runtime.outboundNetworkProxyServer.close();
  runtime.websocket.decorator = () =>
    class extends GuardedSocket {
      constructor(url: string) {
        const current = rules();
        if (current === null) throw new Error("This PHP has no network");
        super(url, current);
      }
    };
  runtime.websocket.serverDecorator = () => NoServer;
  runtime.websocket.url = (_socket: unknown, host: string, port: number) =>
    `tcp://php/?${new URLSearchParams({ host, port: String(port) })}`;
}
