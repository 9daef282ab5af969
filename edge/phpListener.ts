/**
 * Accepts connections of this installation's PHP, on a Unix socket. The first line of each is a credential, which the
 * runtime sends before PHP can write anything. It says which environment the connection belongs to.
 */
import type { Server as HttpServer } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import type { OpenCounts } from "./http/openCounts.ts";
import type { VisitorSocket } from "./http/visitorHttp.ts";
import type { PhpCaller } from "./visit/sender.ts";

/** Returns the environment that a credential belongs to, or null if it is not valid. */
export type IdentifyPhp = (credential: string) => PhpCaller | null;

/** Longer than any credential. */
const maxCredentialBytes = 512;
const credentialMilliseconds = 10_000;

export interface PhpListener {
  /** Not listening yet. */
  readonly listener: Server;
  /** Stops accepting connections and resolves when the last one has closed. Running requests get the grace period. */
  close(graceMilliseconds: number): Promise<void>;
}

/** The environments of open connections. */
export interface PhpCallers {
  set(socket: VisitorSocket, caller: PhpCaller): void;
  find(socket: VisitorSocket): PhpCaller | null;
}

export function createPhpCallers(): PhpCallers {
  const callers = new WeakMap<VisitorSocket, PhpCaller>();
  return {
    set: (socket, caller) => void callers.set(socket, caller),
    find: (socket) => callers.get(socket) ?? null,
  };
}

/**
 * Creates the listener. It passes connections with a valid credential on to `http`, and closes all others. `open` counts the
 * connections of each environment by its id.
 */
export function createPhpListener(
  http: HttpServer,
  callers: PhpCallers,
  identify: IdentifyPhp,
  open: OpenCounts,
): PhpListener {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
    readCredential(socket, (credential, rest) => {
      const caller = identify(credential);
      if (caller === null || !open.add(caller.id, socket)) {
        socket.destroy();
        return;
      }
      callers.set(socket, caller);
      http.emit("connection", socket);
      socket.resume();
      // Not by `unshift`, because the server paces what it gets by `push`.
      if (rest.length > 0) socket.push(rest);
    });
  });
  // Node starts the timeouts for heads and uploads on this event, which the server never emits itself.
  listener.on("listening", () => http.emit("listening"));
  return {
    listener,
    close: (graceMilliseconds) =>
      new Promise((resolve) => {
        const deadline = setTimeout(() => sockets.forEach((socket) => void socket.destroy()), graceMilliseconds);
        // Connections that are idle now, and those that become idle later.
        const idle = setInterval(() => http.closeIdleConnections(), 50);
        listener.close(() => {
          clearTimeout(deadline);
          clearInterval(idle);
          http.close();
          resolve();
        });
      }),
  };
}

/** Calls `receive` with the first line and the bytes after it. Closes the socket if there is no such line. */
function readCredential(socket: Socket, receive: (credential: string, rest: Buffer) => void): void {
  const timeout = setTimeout(() => socket.destroy(), credentialMilliseconds);
  socket.once("close", () => clearTimeout(timeout));
  let received = Buffer.of();
  const read = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const end = received.indexOf("\n");
    if (end === -1 && received.length <= maxCredentialBytes) return;
    clearTimeout(timeout);
    socket.off("data", read).pause();
    if (end === -1) {
      socket.destroy();
      return;
    }
    receive(received.toString("latin1", 0, end), received.subarray(end + 1));
  };
  socket.on("data", read);
}
