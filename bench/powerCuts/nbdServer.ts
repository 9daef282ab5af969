/**
 * Serves a disk to QEMU: the part of the NBD protocol that it needs
 * (https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md). Requests are carried out one after the other.
 */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { ByteReader } from "./byteReader.ts";
import type { VolatileDisk } from "./volatileDisk.ts";

export interface NbdServer extends AsyncDisposable {
  /** Ends all connections at once. Requests that have arrived but were not carried out are lost. */
  disconnect(): void;
}

const serverMagic = Buffer.from("NBDMAGICIHAVEOPT");
const optionReplyMagic = 0x3e889045565a9n;
const requestMagic = 0x25609513;
const replyMagic = 0x67446698;
/** Fixed newstyle negotiation, without zeros behind it. */
const handshakeFlags = 0b11;
/** The flags are valid; there are flushes, and writes through the cache. */
const diskFlags = 0b1101;
const options = { abort: 2, info: 6, go: 7 };
const optionReplies = { acknowledged: 1, info: 3, unsupported: 0x80000001 };
const commands = { read: 0, write: 1, disconnect: 2, flush: 3 };
const throughCacheFlag = 1;

/** Listens on a socket until it is disposed of. `onWrite`: called after each write that is not lasting, before its answer. */
export async function serveDisk(disk: VolatileDisk, socketPath: string, onWrite: () => void): Promise<NbdServer> {
  const connections = new Set<Socket>();
  const server = createServer((connection) => {
    connections.add(connection);
    connection.on("close", () => connections.delete(connection));
    serve(connection, disk, onWrite).catch((error: unknown) =>
      connection.destroy(error instanceof Error ? error : new Error(String(error))),
    );
    // QEMU is killed while it waits for answers.
    connection.on("error", () => undefined);
  });
  server.listen(socketPath);
  await once(server, "listening");
  const disconnect = () => {
    for (const connection of connections) connection.destroy();
  };
  return {
    disconnect,
    [Symbol.asyncDispose]: async () => {
      server.close();
      disconnect();
      await once(server, "close");
    },
  };
}

async function serve(connection: Socket, disk: VolatileDisk, onWrite: () => void): Promise<void> {
  const reader = new ByteReader(connection);
  if (await negotiate(connection, reader, disk)) await carryOut(connection, reader, disk, onWrite);
  connection.end();
}

/** Returns whether requests follow. */
async function negotiate(connection: Socket, reader: ByteReader, disk: VolatileDisk): Promise<boolean> {
  const flags = Buffer.alloc(2);
  flags.writeUInt16BE(handshakeFlags);
  connection.write(Buffer.concat([serverMagic, flags]));
  await reader.take(4);
  for (;;) {
    const head = await reader.take(16);
    if (head === null) return false;
    const option = head.readUInt32BE(8);
    await reader.take(head.readUInt32BE(12));
    const isKnown = Object.values(options).includes(option);
    if (option === options.info || option === options.go)
      connection.write(optionReply(option, optionReplies.info, describe(disk)));
    connection.write(optionReply(option, isKnown ? optionReplies.acknowledged : optionReplies.unsupported));
    if (option === options.go) return true;
    if (option === options.abort) return false;
  }
}

function optionReply(option: number, type: number, data: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(20);
  head.writeBigUInt64BE(optionReplyMagic);
  head.writeUInt32BE(option, 8);
  head.writeUInt32BE(type, 12);
  head.writeUInt32BE(data.length, 16);
  return Buffer.concat([head, data]);
}

function describe({ bytes }: VolatileDisk): Buffer {
  const data = Buffer.alloc(12);
  data.writeBigUInt64BE(BigInt(bytes), 2);
  data.writeUInt16BE(diskFlags, 10);
  return data;
}

async function carryOut(
  connection: Socket,
  reader: ByteReader,
  disk: VolatileDisk,
  onWrite: () => void,
): Promise<void> {
  for (;;) {
    const head = await reader.take(28);
    if (head === null) return;
    if (head.readUInt32BE() !== requestMagic) throw new Error("This is not a request of the NBD protocol.");
    const command = head.readUInt16BE(6);
    const [offset, length] = [Number(head.readBigUInt64BE(16)), head.readUInt32BE(24)];
    if (command === commands.disconnect) return;
    const content = command === commands.write ? await reader.take(length) : null;
    if (command === commands.write && content === null) return;
    // The power may have been cut meanwhile.
    if (connection.destroyed) return;
    const answer = content === null ? readOrFlush(disk, command, offset, length) : null;
    if (content !== null && (head.readUInt16BE(4) & throughCacheFlag) !== 0) disk.writeThrough(offset, content);
    else if (content !== null) {
      disk.write(offset, content);
      onWrite();
    }
    if (!connection.destroyed) connection.write(Buffer.concat([replyTo(head), ...(answer === null ? [] : [answer])]));
  }
}

/** Returns the content, or null. */
function readOrFlush(disk: VolatileDisk, command: number, offset: number, length: number): Buffer | null {
  if (command === commands.read) return disk.read(offset, length);
  if (command !== commands.flush) throw new Error(`The command ${command} of the NBD protocol is not supported.`);
  disk.flush();
  return null;
}

function replyTo(head: Buffer): Buffer {
  const reply = Buffer.alloc(16);
  reply.writeUInt32BE(replyMagic);
  head.copy(reply, 8, 8, 16);
  return reply;
}
