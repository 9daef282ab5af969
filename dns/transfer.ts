/**
 * Zone transfers to secondaries (AXFR, RFC 5936). Incremental ones (IXFR) get the whole zone too (RFC 1995, section 4).
 */
import type { Entry } from "./answer.ts";
import { isSameAddress } from "./clients.ts";
import type { Key } from "./keys.ts";
import type { Query } from "./message/readPacket.ts";
import { transferMessage } from "./message/reply.ts";
import { writeName } from "./names.ts";
import { codes } from "./records/recordTypes.ts";
import type { State } from "./served.ts";
import type { Zone } from "./zone.ts";

/** Long enough for good name compression, short enough not to delay other queries. */
const messageBytes = 16_384;

/** Whether the client is a secondary in the table, with its key and its address. */
export function mayTransfer({ secondaries }: State, address: string, key: Key | null): boolean {
  if (key === null) return false;
  const name = writeName(key.name).slice(0, -1);
  return secondaries.some((one) => one.key === name && isSameAddress(one.address, address));
}

/** Yields the messages of a transfer, each encoded on demand. */
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

/** Compares serials by serial number arithmetic (RFC 1982). */
function isLater(serial: number, other: number): boolean {
  return ((serial - other) | 0) > 0;
}

/** All record sets of a zone. The SOA record comes first and last. */
function* everything(zone: Zone, soa: Entry): Generator<Entry> {
  yield soa;
  for (const [owner, node] of zone.nodes) {
    for (const set of node) if (set !== zone.soa) yield { owner, set };
  }
  yield soa;
}
