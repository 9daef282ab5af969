/**
 * The TLS listener. Checks a connection before it costs a handshake, and passes it on to the HTTP server for the
 * negotiated version afterwards.
 *
 * Only TLS 1.3 sessions can be resumed. A resumed TLS 1.2 session skips the choice of the certificate, and its name is
 * unknown, so that it could request a site whose certificate the client has never seen. OpenSSL can't turn off tickets
 * for one version, so clients without TLS 1.3 get a TLS server without tickets.
 */
import { constants } from "node:crypto";
import type { Server as Http1Server } from "node:http";
import type { Http2Server, ServerHttp2Session } from "node:http2";
import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { stopListening } from "../http/listeners.ts";
import type { NetworkCounts } from "../http/networkCounts.ts";
import { firstRecordBytes, handshakeRecord, offersTls13 } from "./clientHello.ts";
import { createHandshakes, defaultLimits, type HandshakeLimits } from "./handshakes.ts";
import { handshakeMilliseconds } from "./options.ts";

interface SecureParts {
  readonly tls: TlsOptions;
  readonly connections: NetworkCounts;
  /** Returns the client's address, or another name of it. Null: the connection is refused. */
  clientOf(socket: Socket): string | null;
  /** Neither of the two servers listens itself. */
  readonly http1: Http1Server;
  readonly http2: Http2Server;
  readonly limits?: HandshakeLimits;
}

export interface SecureServer {
  /** The TCP server, not listening yet. */
  readonly listener: ReturnType<typeof createServer>;
  setTicketKeys(keys: Buffer): void;
  /** Stops accepting connections and resolves when the last one has closed. Running requests get the grace period. */
  close(graceMilliseconds: number): Promise<void>;
}

export function createSecureServer({
  tls,
  connections,
  clientOf,
  http1,
  http2,
  limits = defaultLimits,
}: SecureParts): SecureServer {
  const handshakes = createHandshakes(limits);
  const handshaking = new Map<string, () => void>();
  const sockets = new Set<Socket>();
  const serve = (options: TlsOptions) =>
    createTlsServer(options, (socket) => {
      handshaking.get(connectionId(socket))?.();
      (socket.alpnProtocol === "h2" ? http2 : http1).emit("connection", socket);
    }).on("tlsClientError", (_error, socket) => socket.destroy());
  const resumable = serve({ ...tls, minVersion: "TLSv1.3" });
  const notResumable = serve({ ...tls, secureOptions: (tls.secureOptions ?? 0) | constants.SSL_OP_NO_TICKET });
  const listener = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
    const client = clientOf(socket);
    if (client === null || !connections.add(client, socket)) return socket.destroy();
    const endHandshake = handshakes.begin(client, () => socket.destroy());
    if (endHandshake === null) return socket.destroy();
    const id = connectionId(socket);
    const timeout = setTimeout(() => socket.destroy(), handshakeMilliseconds);
    const endOnce = () => {
      clearTimeout(timeout);
      handshaking.delete(id);
      endHandshake();
    };
    handshaking.set(id, endOnce);
    socket.once("close", endOnce);
    readFirstRecord(socket, (first) => {
      if (first[0] !== handshakeRecord) return refusePlainHttp(socket);
      // The TLS server reads the first bytes again.
      socket.unshift(first);
      (offersTls13(first) ? resumable : notResumable).emit("connection", socket);
    });
  });
  // Node starts the timeouts for heads and uploads on this event, which the server never emits itself.
  listener.on("listening", () => http1.emit("listening"));
  const sessions = trackSessions(http2);
  return {
    listener,
    setTicketKeys: (keys) => resumable.setTicketKeys(keys),
    async close(graceMilliseconds) {
      const deadline = setTimeout(() => sockets.forEach((socket) => void socket.destroy()), graceMilliseconds);
      const idle = setInterval(() => {
        http1.closeIdleConnections();
        sessions.forEach((session) => void session.close());
      }, 50);
      await stopListening(listener);
      clearTimeout(deadline);
      clearInterval(idle);
      http1.close();
    },
  };
}

function trackSessions(http2: Http2Server): ReadonlySet<ServerHttp2Session> {
  const sessions = new Set<ServerHttp2Session>();
  http2.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  return sessions;
}

/** Identifies a connection: equal for the TCP socket and its TLS socket. */
function connectionId({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`;
}

/** Calls `receive` with what has arrived when that contains the first record, and leaves the socket paused. */
function readFirstRecord(socket: Socket, receive: (first: Buffer) => void): void {
  let received = Buffer.of();
  const read = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (received.length < firstRecordBytes(received)) return;
    socket.off("data", read).pause();
    receive(received);
  };
  socket.on("data", read);
}

const plainHttpMessage = "This port is for https. Write https:// instead of http:// in front of the address.\n";
const plainHttpResponse = [
  "HTTP/1.1 400 Bad Request",
  "Content-Type: text/plain; charset=utf-8",
  `Content-Length: ${plainHttpMessage.length}`,
  "Connection: close",
  "",
  plainHttpMessage,
].join("\r\n");

function refusePlainHttp(socket: Socket): void {
  socket.resume().end(plainHttpResponse, () => socket.destroySoon());
}
