/** Questions by TCP (RFC 7766): each behind its length, any number on one connection, answered in their order. */
import { createServer, type Server, type Socket } from "node:net";
import { networkOf } from "./clients.ts";
import { mostQuestionBytes } from "./message/readPacket.ts";
import type { Responder } from "./respond.ts";
import type { DnsLog } from "./served.ts";

export interface TcpLimits {
  /** Connections at once, of everybody and of one network. */
  readonly connections: number;
  readonly connectionsOfOne: number;
  /** How long a connection may bring no whole question, or not take what it asked for. */
  readonly idleSeconds: number;
}

export interface TcpServer {
  readonly server: Server;
  /** Also those that are being answered. */
  endAll(): void;
}

/** Not listening yet. */
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
    endAll: () => {
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

  /** Null if the next one is not there as a whole. */
  function next(): Buffer | null {
    if (received.length < 2) return null;
    const end = 2 + received.readUInt16BE(0);
    if (end - 2 > mostQuestionBytes) {
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
    // Clients that don't read their answers are not read from.
    socket.pause();
    answerAll().catch((err: unknown) => {
      log.error({ err }, "A question by TCP could not be answered");
      socket.destroy();
    });
  });
  socket.on("end", () => {
    isEnded = true;
    if (!isAnswering) socket.end();
  });
  // They go away as they like; `close` follows.
  socket.on("error", () => undefined);
  socket.on("close", () => clearTimeout(idle));
}

/** Resolves when there is room for the next message, or nobody to send one to. */
function send(socket: Socket, message: Buffer): Promise<void> {
  const framed = Buffer.allocUnsafe(2 + message.length);
  framed.writeUInt16BE(message.length, 0);
  message.copy(framed, 2);
  return new Promise((resolve) => {
    if (socket.write(framed) || socket.destroyed) return resolve();
    const go = (): void => {
      socket.off("drain", go);
      socket.off("close", go);
      resolve();
    };
    socket.on("drain", go);
    socket.on("close", go);
  });
}
