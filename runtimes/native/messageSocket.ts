/**
 * The socket through which the platform's PHP in one slot sends messages to the server (`platform/messages.php`). Each message and
 * its answer is preceded by its length, in four bytes. A site's code can send the same messages; they affect only its own pages and
 * its own mail. They can also try to use up the server's memory and descriptors, so a socket has few of each.
 */
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { createServer, type Socket } from "node:net";

/** Answers a message. Must not reject. */
type Answer = (message: string) => Promise<string>;

export interface MessageSocket {
  /** From now on `answer` gets the messages. Null: connections that send one are closed. */
  setReceiver(answer: Answer | null): void;
  close(): void;
}

const prefixBytes = 4;
/** Of all connections of a socket together: an e-mail of 25 MB, encoded, and others. */
const maxMessageBytes = 40 << 20;
/** PHP has one, and each program for `mail()` another one. */
const maxConnections = 16;

/** Opens the socket at the path `file`. Every user who reaches the folder can connect. */
export async function openMessageSocket(file: string): Promise<MessageSocket> {
  let receiver: Answer | null = null;
  const budget: Budget = { bytesLeft: maxMessageBytes };
  const connections = new Set<Socket>();
  const server = createServer((connection) => {
    connections.add(connection);
    connection.on("error", () => undefined);
    connection.once("close", () => connections.delete(connection));
    serve(connection, budget, () => receiver);
  });
  server.maxConnections = maxConnections;
  // Out of descriptors, for example.
  server.on("error", () => undefined);
  server.listen(file);
  await once(server, "listening");
  await chmod(file, 0o666);
  server.unref();
  return {
    setReceiver: (answer) => {
      receiver = answer;
    },
    close: () => {
      server.close();
      for (const connection of connections) connection.destroy();
    },
  };
}

/** How much of messages may still be kept in memory. */
interface Budget {
  bytesLeft: number;
}

/** Of all sockets together. */
const common: Budget = { bytesLeft: 200 << 20 };
const silenceMilliseconds = 60_000;

/** Answers the messages of a connection, one after the other: PHP waits for each answer. The platform's own PHP follows the rules. */
function serve(connection: Socket, budget: Budget, receiver: () => Answer | null): void {
  let prefix: Buffer = Buffer.alloc(0);
  let message: Buffer | null = null;
  let filled = 0;
  let reserved = 0;
  const reserve = (bytes: number) => {
    budget.bytesLeft += reserved - bytes;
    common.bytesLeft += reserved - bytes;
    reserved = bytes;
  };
  connection.once("close", () => reserve(0));
  connection.once("timeout", () => connection.destroy());

  /** Returns the bytes after the length, or null if it is incomplete or refused. */
  function readLength(piece: Buffer): Buffer | null {
    prefix = Buffer.concat([prefix, piece]);
    if (prefix.length < prefixBytes) return null;
    const [length, rest] = [prefix.readUInt32BE(), prefix.subarray(prefixBytes)];
    prefix = Buffer.alloc(0);
    if (length > Math.min(budget.bytesLeft, common.bytesLeft)) {
      connection.destroy();
      return null;
    }
    reserve(length);
    message = Buffer.allocUnsafe(length);
    return rest;
  }

  connection.on("data", (piece: Buffer) => {
    const answer = receiver();
    if (answer === null) return void connection.destroy();
    // Nobody keeps a part of a message for long.
    connection.setTimeout(silenceMilliseconds);
    const content = message === null ? readLength(piece) : piece;
    if (content === null || message === null) return;
    if (content.length > message.length - filled) return void connection.destroy();
    filled += content.copy(message, filled);
    if (filled < message.length) return;
    connection.setTimeout(0);
    const text = message.toString();
    message = null;
    filled = 0;
    // Answers that nobody reads don't pile up.
    connection.pause();
    void answer(text).then((answered) =>
      connection.write(withLength(Buffer.from(answered)), () => {
        reserve(0);
        connection.resume();
      }),
    );
  });
}

function withLength(answer: Buffer): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(answer.length);
  return Buffer.concat([prefix, answer]);
}
