/** Builds and parses packets, for cases that no tool sends. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { readNameAt } from "../message/readPacket.ts";
import { writeName } from "../names.ts";

export interface QueryOptions {
  readonly id?: number;
  /** The second 16 bits of the header. */
  readonly flags?: number;
  readonly class?: number;
  /** The largest response to accept, in bytes. Absent: no EDNS. */
  readonly udpSize?: number;
  readonly ednsVersion?: number;
  readonly isDnssecOk?: boolean;
}

/** Builds a query. The name is sent as written. */
export function question(name: string, type: number, options: QueryOptions = {}): Buffer {
  const { id = 4_711, flags = 0, udpSize, ednsVersion = 0, isDnssecOk = false } = options;
  const labels = name === "." ? [] : name.replace(/\.$/, "").split(".");
  const wire = Buffer.concat([...labels.map((one) => Buffer.from([one.length, ...Buffer.from(one)])), Buffer.of(0)]);
  const packet = Buffer.alloc(12 + wire.length + 4);
  packet.writeUInt16BE(id, 0);
  packet.writeUInt16BE(flags, 2);
  packet.writeUInt16BE(1, 4);
  wire.copy(packet, 12);
  packet.writeUInt16BE(type, 12 + wire.length);
  packet.writeUInt16BE(options.class ?? 1, 14 + wire.length);
  if (udpSize === undefined) return packet;
  packet.writeUInt16BE(1, 10);
  const opt = Buffer.from([0, 0, 41, udpSize >> 8, udpSize & 255, 0, ednsVersion, isDnssecOk ? 0x80 : 0, 0, 0, 0]);
  return Buffer.concat([packet, opt]);
}

interface ReadRecord {
  readonly owner: string;
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  readonly data: Buffer;
}

interface ReadAnswer {
  readonly id: number;
  readonly flags: number;
  readonly rcode: number;
  readonly isTruncated: boolean;
  readonly isAuthoritative: boolean;
  readonly answers: readonly ReadRecord[];
  readonly authority: readonly ReadRecord[];
  readonly additional: readonly ReadRecord[];
}

/** Parses a response. Throws if it is malformed. */
export function readAnswer(packet: Buffer): ReadAnswer {
  const flags = packet.readUInt16BE(2);
  if ((flags & 0x8000) === 0) throw new Error("Not a response");
  let at = 12;
  const nameHere = (): string => {
    const found = readNameAt(packet, at, true);
    if (found === null) throw new Error(`Invalid name at ${at}`);
    at = found.end;
    return writeName(found.name);
  };
  if (packet.readUInt16BE(4) === 1) {
    nameHere();
    at += 4;
  }
  const section = (countAt: number): ReadRecord[] =>
    Array.from({ length: packet.readUInt16BE(countAt) }, () => {
      const owner = nameHere();
      const [type, recordClass] = [packet.readUInt16BE(at), packet.readUInt16BE(at + 2)];
      const [ttl, size] = [packet.readUInt32BE(at + 4), packet.readUInt16BE(at + 8)];
      at += 10 + size;
      return { owner, type, class: recordClass, ttl, data: packet.subarray(at - size, at) };
    });
  const [answers, authority, additional] = [section(6), section(8), section(10)];
  if (at !== packet.length) throw new Error(`${packet.length - at} bytes too many`);
  return {
    id: packet.readUInt16BE(0),
    flags,
    rcode: flags & 0xf,
    isTruncated: (flags & 0x0200) !== 0,
    isAuthoritative: (flags & 0x0400) !== 0,
    answers,
    authority,
    additional,
  };
}

/** Sends a packet and returns the next one received. */
export async function askUdp(port: number, packet: Buffer): Promise<Buffer> {
  const socket = createSocket("udp4");
  const answered = once(socket, "message");
  socket.send(packet, port, "127.0.0.1");
  const [answer] = await answered;
  socket.close();
  return Buffer.from(answer);
}

export function framed(packet: Buffer): Buffer {
  return Buffer.concat([Buffer.from([packet.length >> 8, packet.length & 255]), packet]);
}

/** Opens a connection. `messages` returns all complete messages received so far. */
export function openTcp(port: number): { socket: Socket; messages: () => Buffer[]; closed: Promise<unknown> } {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  let received = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
  });
  const messages = (): Buffer[] => {
    const found: Buffer[] = [];
    for (let at = 0; at + 2 <= received.length; ) {
      const end = at + 2 + received.readUInt16BE(at);
      if (end <= received.length) found.push(received.subarray(at + 2, end));
      at = end;
    }
    return found;
  };
  return { socket, messages, closed: new Promise((resolve) => socket.on("close", resolve)) };
}
