/**
 * Secondaries are told when a zone has a new serial (RFC 1996), so that they fetch it at once. Each is told until it says
 * that it has heard, a few times; after that its own refreshing has to do.
 */
import { randomInt } from "node:crypto";
import type { Socket } from "node:dgram";
import { isSameAddress, plainAddress } from "./clients.ts";
import { headerBytes } from "./message/readPacket.ts";
import { sign } from "./message/tsig.ts";
import { readName } from "./names.ts";
import { codes } from "./records/recordTypes.ts";
import { nameBytes } from "./records/wire.ts";
import type { DnsLog, State } from "./served.ts";
import { createUdpSocket } from "./sockets.ts";
import type { DnsSecondary } from "./table.ts";

export interface Notifier {
  /** Begins to tell of what is new in `after`, in the background. */
  changed(before: State, after: State): void;
  close(): void;
}

export interface NotifierOptions {
  readonly state: () => State;
  readonly log: DnsLog;
  /** How long the first answer is waited for; each next time twice as long. */
  readonly firstWaitMilliseconds?: number;
}

/** Not more are told at once: a table may have ten thousand new zones. */
const mostAtOnce = 50;
const mostTries = 6;

interface Message {
  readonly zone: string;
  readonly secondary: DnsSecondary;
}

interface Told extends Message {
  tries: number;
  timer: NodeJS.Timeout;
}

/** Zones whose serial is another than before, for every secondary; all zones for those that are new. */
export function messagesFor(before: State, after: State): Message[] {
  const known = new Set(before.secondaries.map(({ address, port }) => `${address} ${port}`));
  return after.secondaries.flatMap((secondary) => {
    const isNew = !known.has(`${secondary.address} ${secondary.port}`);
    const zones = [...after.zones.serials].filter(
      ([zone, serial]) => isNew || before.zones.serials.get(zone) !== serial,
    );
    return zones.map(([zone]) => ({ zone, secondary }));
  });
}

export function createNotifier({ state, log, firstWaitMilliseconds = 1_000 }: NotifierOptions): Notifier {
  const waiting = new Map<string, Message>();
  const told = new Map<number, Told>();
  const sockets = new Map<string, Socket>();
  let isClosed = false;

  function begin(): void {
    for (const [key, message] of waiting) {
      if (told.size >= mostAtOnce || isClosed) return;
      waiting.delete(key);
      let id = randomInt(65_536);
      while (told.has(id)) id = randomInt(65_536);
      tell(id, message, 1);
    }
  }

  function tell(id: number, message: Message, tries: number): void {
    const { secondary, zone } = message;
    const timer = setTimeout(() => again(id), firstWaitMilliseconds * 2 ** (tries - 1));
    timer.unref();
    told.set(id, { ...message, tries, timer });
    const packet = packetFor(id, zone, secondary, state());
    // What is lost is sent again.
    if (packet !== null) socketFor(secondary.address).send(packet, secondary.port, secondary.address, () => undefined);
  }

  function again(id: number): void {
    const message = told.get(id);
    if (message === undefined) return;
    if (message.tries < mostTries) {
      tell(id, message, message.tries + 1);
      return;
    }
    const { address, port } = message.secondary;
    log.warn({ zone: message.zone, address, port }, "A secondary does not answer what it is told");
    over(id);
  }

  function over(id: number): void {
    clearTimeout(told.get(id)?.timer);
    told.delete(id);
    begin();
  }

  function socketFor(address: string): Socket {
    const family = plainAddress(address).includes(":") ? "::" : "0.0.0.0";
    let socket = sockets.get(family);
    if (socket === undefined) {
      socket = createUdpSocket(family);
      socket.on("message", (packet, from) => heard(packet, from.address, from.port));
      socket.on("error", (err) => log.warn({ err }, "Secondaries can't be told"));
      socket.unref();
      sockets.set(family, socket);
    }
    return socket;
  }

  function heard(packet: Buffer, address: string, port: number): void {
    if (packet.length < headerBytes || (packet.readUInt16BE(2) & 0xf800) !== 0xa000) return;
    const id = packet.readUInt16BE(0);
    const message = told.get(id);
    if (message === undefined || message.secondary.port !== port) return;
    if (!isSameAddress(message.secondary.address, address)) return;
    const rcode = packet.readUInt16BE(2) & 0xf;
    if (rcode !== 0) log.warn({ zone: message.zone, address, port, rcode }, "A secondary refused what it was told");
    over(id);
  }

  return {
    changed(before, after) {
      for (const message of messagesFor(before, after)) {
        waiting.set(`${message.zone} ${message.secondary.address} ${message.secondary.port}`, message);
      }
      begin();
    },
    close() {
      isClosed = true;
      for (const { timer } of told.values()) clearTimeout(timer);
      for (const socket of sockets.values()) socket.close();
    },
  };
}

/** A NOTIFY from the primary server, which asks for the zone's SOA record. Null if its key can't be used. */
function packetFor(id: number, zone: string, secondary: DnsSecondary, { keys }: State): Buffer | null {
  const key = keys.get(readName(secondary.key));
  if (key === undefined) return null;
  const header = Buffer.from([id >> 8, id & 0xff, 0x24, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const packet = Buffer.concat([header, nameBytes(readName(zone)), Buffer.from([0, codes.SOA, 0, 1])]);
  return sign(packet, { key, priorMac: null, isLater: false, now: Math.floor(Date.now() / 1000) }).signed;
}
