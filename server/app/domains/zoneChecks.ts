/** Whether the DNS server could serve a change, checked with the server's own functions before anything is written. */
import { domainToASCII } from "node:url";
import { readOwner } from "@sitewright/dns/names.ts";
import { BadValue } from "@sitewright/dns/records/badValue.ts";
import { recordType } from "@sitewright/dns/records/recordTypes.ts";
import { compileZone } from "@sitewright/dns/zone.ts";
import type { RecordSetChange } from "@sitewright/server/operations/domains/changeDnsRecord.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { type DnsRecordSetRow, listDnsRecords } from "@sitewright/server/store/domains/dnsRecords.ts";
import type { ZoneOfDomain } from "@sitewright/server/store/domains/zones.ts";
import { Refused } from "../failures.ts";

/** Far above what a domain needs, and small enough for each change to be checked as a whole. */
export const mostRecordSets = 2_000;
const soa = {
  ttl: 300,
  primary: "ns.invalid",
  mailbox: "hostmaster.invalid",
  refresh: 1,
  retry: 1,
  expire: 1,
  negativeTtl: 1,
};

/** In lower case, as A-labels, without the final dot. Throws `Refused` if it is none, or not within the domain. */
export function readRecordName(text: string, domainName: string): string {
  if (text === "@") return domainName;
  const written = text.replace(/\.$/, "");
  const labels = written.split(".").map((label) => (/^[\x21-\x7e]*$/.test(label) ? label : domainToASCII(label)));
  const name = labels.join(".").toLowerCase();
  refusingBadValues(() => readOwner(name), { field: "name" });
  if (name === domainName || name.endsWith(`.${domainName}`)) return name;
  const message = `"${text}" does not lie within "${domainName}". Send an absolute name such as www.${domainName}, or @ for the domain itself.`;
  throw new Refused("outside_the_domain", message, { field: "name" });
}

/** Whether two values are one record, however they are written. */
export function isSameValue(type: string, one: string, other: string): boolean {
  const { read } = recordType(type);
  try {
    return read(one).equals(read(other));
  } catch (error) {
    if (error instanceof BadValue) return one === other;
    throw error;
  }
}

/** Throws `Refused` if the zone with these changes in it could not be served. */
export async function refuseUnservable(
  transaction: DatabaseTransaction,
  { zoneId, zoneName }: Pick<ZoneOfDomain, "zoneId" | "zoneName">,
  changes: readonly RecordSetChange[],
): Promise<void> {
  const added = changes.flatMap(({ after }) => after ?? []);
  if (added.length === 0) return;
  const changed = new Set(changes.map(({ place }) => keyOf(place)));
  const others = (await listDnsRecords(transaction, zoneId)).filter((set) => !changed.has(keyOf(set)));
  if (others.length + added.length > mostRecordSets) {
    throw zoneFull(zoneName);
  }
  const nameServers = { ttl: 300, names: ["ns.invalid"] };
  const [only, ...more] = changes;
  const details = only !== undefined && more.length === 0 ? only.place : {};
  // The new ones last: it is then one of them that is complained of.
  const recordSets = [...others, ...added];
  refusingBadValues(() => compileZone({ name: zoneName, serial: 1, soa, nameServers, recordSets }), details);
}

export function zoneFull(zone: string): Refused {
  return new Refused("zone_full", `A zone has ${mostRecordSets} record sets at most.`, { zone });
}

/** Two record sets of one zone are of the same name and type, or have different keys. */
export function keyOf({ name, type }: Pick<DnsRecordSetRow, "name" | "type">): string {
  return `${name} ${type}`;
}

function refusingBadValues(work: () => unknown, details: Readonly<Record<string, unknown>>): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    throw new Refused("dns_record_unservable", `${error.message}.`, details);
  }
}
