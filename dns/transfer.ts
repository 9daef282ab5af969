/** Whole zones for secondaries (AXFR, RFC 5936). What has changed since (IXFR) is answered by the whole, too (RFC 1995, 4). */
import type { Entry } from "./answer.ts";
import { isSameAddress } from "./clients.ts";
import type { Key } from "./keys.ts";
import type { Query } from "./message/readPacket.ts";
import { transferMessage } from "./message/reply.ts";
import { writeName } from "./names.ts";
import { codes } from "./records/recordTypes.ts";
import type { State } from "./served.ts";
import type { Zone } from "./zone.ts";

/** Long enough to shorten names well, short enough to be made without anybody waiting. */
const messageBytes = 16_384;

/** Only who is named in the table, with the key and from the address that stand there. */
export function mayTransfer({ secondaries }: State, address: string, key: Key | null): boolean {
  if (key === null) return false;
  const name = writeName(key.name).slice(0, -1);
  return secondaries.some((one) => one.key === name && isSameAddress(one.address, address));
}

/** The messages, each made when it is taken. */
export function* transfer(query: Query, zone: Zone): Generator<Buffer> {
  const soa = { owner: zone.apex, set: zone.soa };
  const isUpToDate =
    query.type === codes.IXFR && query.knownSerial !== null && !isLater(zone.serial, query.knownSerial);
  const entries = isUpToDate ? [soa] : [...everything(zone, soa)];
  for (let next = 0; next < entries.length; ) {
    const made = transferMessage(query, entries, next, messageBytes);
    next = made.next;
    yield made.message;
  }
}

/** Whether a serial comes after another, in the circle of them (RFC 1982). */
function isLater(serial: number, other: number): boolean {
  return ((serial - other) | 0) > 0;
}

/** It begins and ends with the SOA record. */
function* everything(zone: Zone, soa: Entry): Generator<Entry> {
  yield soa;
  for (const [owner, node] of zone.nodes) {
    for (const set of node) if (set !== zone.soa) yield { owner, set };
  }
  yield soa;
}
