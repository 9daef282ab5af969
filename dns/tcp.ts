/** Queries over TCP (RFC 7766): each after its length, any number per connection, answered in order. */
import { createServer, type Server, type Socket } from "node:net";
import { networkOf } from "./clients.ts";
import { maxQueryBytes } from "./message/readPacket.ts";
import type { Responder } from "./respond.ts";
import type { DnsLog } from "./served.ts";

export interface TcpLimits {
  /** Maximum of concurrent connections, in total and per network. */
  readonly connections: number;
  readonly connectionsOfOne: number;
  /** Timeout for receiving a complete query, and for the client to read a response. */
  readonly idleSeconds: number;
}

interface TcpServer {
  readonly server: Server;
  /** Closes all connections, including those with a running response. */
  closeAll(): void;
}

/** Creates the server, not listening yet. */
export function createTcpServer(responder: Pick<Responder, "overTcp">, limits: TcpLimits, log: DnsLog): TcpServer {
  const open = new Set<Socket>();
  const counts = new Map<string, number>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const address = socket.remoteAddress;
    if (address === undefined) return void socket.destroy();
    const network = networkOf(address);
    const count = (counts.get(network) ?? 0) + 1;
    if (open.size >= limits.connections || count > limits.connectionsOfOne) return void socket.destroy();
    open.add(socket);
    counts.set(network, count);
    socket.on("close", () => {
      open.delete(socket);
      const left = (counts.get(network) ?? 1) - 1;
      if (left === 0) counts.delete(network);
      else counts.set(network, left);
    });
    answerConnection(socket, address, responder, limits.idleSeconds, log);
  });
  return {
    server,
    closeAll: () => {
      for (const socket of open) socket.destroy();
    },
  };
}

function answerConnection(
  socket: Socket,
  address: string,
  responder: Pick<Responder, "overTcp">,
  idleSeconds: number,
  log: DnsLog,
): void {
  let received: Buffer = Buffer.alloc(0);
  let isAnswering = false;
  let isEnded = false;
  const idle = setTimeout(() => socket.destroy(), idleSeconds * 1000);

  async function answerAll(): Promise<void> {
    isAnswering = true;
    for (let question = next(); question !== null && !socket.destroyed; question = next()) {
      for (const message of responder.overTcp(question, address)) {
        await send(socket, message);
        if (socket.destroyed) return;
        idle.refresh();
      }
    }
    isAnswering = false;
    if (isEnded) socket.end();
    else socket.resume();
  }

  /** The next query, or null if it is not complete yet. */
  function next(): Buffer | null {
    if (received.length < 2) return null;
    const end = 2 + received.readUInt16BE(0);
    if (end - 2 > maxQueryBytes) {
      socket.destroy();
      return null;
    }
    if (received.length < end) return null;
    const question = received.subarray(2, end);
    received = received.subarray(end);
    return question;
  }

  socket.on("data", (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    if (isAnswering) return;
    // Don't read from clients that don't read their responses.
    socket.pause();
    answerAll().catch((err: unknown) => {
      log.error({ err }, "Could not answer a query over TCP");
      socket.destroy();
    });
  });
  socket.on("end", () => {
    isEnded = true;
    if (!isAnswering) socket.end();
  });
  // Clients may disconnect at any time; `close` follows.
  socket.on("error", () => undefined);
  socket.on("close", () => clearTimeout(idle));
}

/** Sends a message. Resolves when the next one can be sent or the connection is closed. */
function send(socket: Socket, message: Buffer): Promise<void> {
  const framed = Buffer.allocUnsafe(2 + message.length);
  framed.writeUInt16BE(message.length, 0);
  message.copy(framed, 2);
  return new Promise((resolve) => {
    if (socket.write(framed) || socket.destroyed) return resolve();
    const done = (): void => {
      socket.off("drain", done);
      socket.off("close", done);
      resolve();
    };
    socket.on("drain", done);
    socket.on("close", done);
  });
}
