/**
 * The socket through which the platform's PHP in one slot sends messages to the server (`platform/messages.php`). Each message and
 * its answer is preceded by its length, in four bytes. A site's code can send the same messages; they affect only its own pages and
 * its own mail.
 */
import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { createServer, type Socket } from "node:net";

/** Answers a message. Must not reject. */
type Answer = (message: string) => Promise<string>;

export interface MessageSocket {
  /** From now on `answer` gets the messages. */
  setReceiver(answer: Answer): void;
  close(): void;
}

const prefixBytes = 4;
/** An e-mail of 25 MB, encoded. */
const maxMessageBytes = 40 << 20;

/** Opens the socket at the path `file`. Every user who reaches the folder can connect. */
export async function openMessageSocket(file: string): Promise<MessageSocket> {
  let receiver: Answer = async () => "";
  const connections = new Set<Socket>();
  const server = createServer((connection) => {
    connections.add(connection);
    connection.on("error", () => undefined);
    connection.once("close", () => connections.delete(connection));
    serve(connection, (message) => receiver(message));
  });
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

/** Answers the messages of a connection, one after the other: PHP waits for each answer. */
function serve(connection: Socket, answer: Answer): void {
  let pieces: Buffer[] = [];
  let length = 0;
  connection.on("data", (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
    if (length < prefixBytes) return;
    if (pieces.length > 1 && (pieces[0]?.length ?? 0) < prefixBytes) pieces = [Buffer.concat(pieces)];
    const wanted = prefixBytes + (pieces[0]?.readUInt32BE() ?? 0);
    // The platform's own PHP does neither.
    if (wanted > maxMessageBytes || length > wanted) return void connection.destroy();
    if (length < wanted) return;
    const message = Buffer.concat(pieces).toString("utf8", prefixBytes);
    pieces = [];
    length = 0;
    void answer(message).then((text) => send(connection, Buffer.from(text)));
  });
}

function send(connection: Socket, answer: Buffer): void {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(answer.length);
  connection.write(Buffer.concat([prefix, answer]));
}
