/**
 * Notifies secondaries of new serials (NOTIFY, RFC 1996), so that they fetch the zone at once. Retries a few times
 * until a secondary acknowledges; after that, its own refresh has to suffice.
 */
import { randomInt } from "node:crypto";
import type { Socket } from "node:dgram";
import { isSameAddress, withoutMapping } from "./clients.ts";
import { headerBytes } from "./message/readPacket.ts";
import { sign } from "./message/tsig.ts";
import { readName } from "./names.ts";
import { codes } from "./records/recordTypes.ts";
import { nameBytes } from "./records/wire.ts";
import type { DnsLog, State } from "./served.ts";
import { createUdpSocket } from "./sockets.ts";
import type { DnsSecondary } from "./table.ts";

export interface Notifier {
  /** Starts to notify secondaries of all changes in `after`, in the background. */
  changed(before: State, after: State): void;
  close(): void;
}

interface NotifierOptions {
  readonly state: () => State;
  readonly log: DnsLog;
  /** Timeout of the first attempt. It doubles with each retry. */
  readonly firstWaitMilliseconds?: number;
}

/** Limit for messages in flight: a table may have ten thousand new zones. */
const maxInFlight = 50;
const maxAttempts = 6;

interface Message {
  readonly zone: string;
  readonly secondary: DnsSecondary;
}

interface InFlight extends Message {
  attempts: number;
  timer: NodeJS.Timeout;
}

/** Messages for zones with a changed serial to every secondary, and for all zones to new secondaries. */
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
  const inFlight = new Map<number, InFlight>();
  const sockets = new Map<string, Socket>();
  let isClosed = false;

  function sendWaiting(): void {
    for (const [key, message] of waiting) {
      if (inFlight.size >= maxInFlight || isClosed) return;
      waiting.delete(key);
      let id = randomInt(65_536);
      while (inFlight.has(id)) id = randomInt(65_536);
      send(id, message, 1);
    }
  }

  function send(id: number, message: Message, attempts: number): void {
    const { secondary, zone } = message;
    const timer = setTimeout(() => retry(id), firstWaitMilliseconds * 2 ** (attempts - 1));
    timer.unref();
    inFlight.set(id, { ...message, attempts, timer });
    const packet = encodeNotify(id, zone, secondary, state());
    // Lost packets are sent again.
    if (packet !== null) socketFor(secondary.address).send(packet, secondary.port, secondary.address, () => undefined);
  }

  function retry(id: number): void {
    const message = inFlight.get(id);
    if (message === undefined) return;
    if (message.attempts < maxAttempts) {
      send(id, message, message.attempts + 1);
      return;
    }
    const { address, port } = message.secondary;
    log.warn({ zone: message.zone, address, port }, "A secondary did not acknowledge a NOTIFY");
    finish(id);
  }

  function finish(id: number): void {
    clearTimeout(inFlight.get(id)?.timer);
    inFlight.delete(id);
    sendWaiting();
  }

  function socketFor(address: string): Socket {
    const family = withoutMapping(address).includes(":") ? "::" : "0.0.0.0";
    let socket = sockets.get(family);
    if (socket === undefined) {
      socket = createUdpSocket(family);
      socket.on("message", (packet, from) => onResponse(packet, from.address, from.port));
      socket.on("error", (err) => log.warn({ err }, "Could not send NOTIFY"));
      socket.unref();
      sockets.set(family, socket);
    }
    return socket;
  }

  function onResponse(packet: Buffer, address: string, port: number): void {
    if (packet.length < headerBytes || (packet.readUInt16BE(2) & 0xf800) !== 0xa000) return;
    const id = packet.readUInt16BE(0);
    const message = inFlight.get(id);
    if (message === undefined || message.secondary.port !== port) return;
    if (!isSameAddress(message.secondary.address, address)) return;
    const rcode = packet.readUInt16BE(2) & 0xf;
    if (rcode !== 0) log.warn({ zone: message.zone, address, port, rcode }, "A secondary refused a NOTIFY");
    finish(id);
  }

  return {
    changed(before, after) {
      for (const message of messagesFor(before, after)) {
        waiting.set(`${message.zone} ${message.secondary.address} ${message.secondary.port}`, message);
      }
      sendWaiting();
    },
    close() {
      isClosed = true;
      for (const { timer } of inFlight.values()) clearTimeout(timer);
      for (const socket of sockets.values()) socket.close();
    },
  };
}

/** A signed NOTIFY, with a question for the zone's SOA record. Null if the key can't be used. */
function encodeNotify(id: number, zone: string, secondary: DnsSecondary, { keys }: State): Buffer | null {
  const key = keys.get(readName(secondary.key));
  if (key === undefined) return null;
  const header = Buffer.from([id >> 8, id & 0xff, 0x24, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const packet = Buffer.concat([header, nameBytes(readName(zone)), Buffer.from([0, codes.SOA, 0, 1])]);
  return sign(packet, { key, priorMac: null, isLater: false, now: Math.floor(Date.now() / 1000) }).signed;
}
