/** Checks that the DNS server can serve a change, with the server's own functions, before anything is written. */
import { readOwner } from "@sitewright/dns/names.ts";
import { BadValue } from "@sitewright/dns/records/badValue.ts";
import { recordType } from "@sitewright/dns/records/recordTypes.ts";
import { compileZone } from "@sitewright/dns/zone.ts";
import { toAsciiName } from "@sitewright/dns/zoneFiles/names.ts";
import { isWithinDomain } from "@sitewright/server/domains/names.ts";
import type { RecordSetChange } from "@sitewright/server/operations/domains/changeDnsRecord.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { type DnsRecordSetRow, listDnsRecords } from "@sitewright/server/store/domains/dnsRecords.ts";
import type { ZoneOfDomain } from "@sitewright/server/store/domains/zones.ts";
import { Refused } from "../failures.ts";

/** Far more than a domain needs, and few enough to check the whole zone at each change. */
export const maxRecordSets = 2_000;
const soa = {
  ttl: 300,
  primary: "ns.invalid",
  mailbox: "hostmaster.invalid",
  refresh: 1,
  retry: 1,
  expire: 1,
  negativeTtl: 1,
};

/** Returns the name in lower case, as A-labels, without the final dot. Throws `Refused` if it is invalid or not in the domain. */
export function readRecordName(text: string, domainName: string): string {
  if (text === "@") return domainName;
  const name = toAsciiName(text.replace(/\.$/, "")).toLowerCase();
  refusingBadValues(() => readOwner(name), { field: "name" });
  if (isWithinDomain(name, domainName)) return name;
  const message = `"${text}" is not within "${domainName}". Send an absolute name such as www.${domainName}, or @ for the domain itself.`;
  throw new Refused("outside_the_domain", message, { field: "name" });
}

/** Whether two values are the same record, even if they are written differently. */
export function isSameValue(type: string, one: string, other: string): boolean {
  return canonicalValues({ type, values: [one, other] }).size === 1;
}

/** The values in a form in which equal ones have the same text. */
export function canonicalValues({ type, values }: Pick<DnsRecordSetRow, "type" | "values">): Set<string> {
  const { read } = recordType(type);
  return new Set(
    values.map((value) => {
      try {
        return read(value).toString("latin1");
      } catch (error) {
        if (error instanceof BadValue) return value;
        throw error;
      }
    }),
  );
}

/** Throws `Refused` if the zone could not be served with these changes. */
export async function refuseUnservable(
  transaction: DatabaseTransaction,
  { zoneId, zoneName }: Pick<ZoneOfDomain, "zoneId" | "zoneName">,
  changes: readonly RecordSetChange[],
): Promise<void> {
  const added = changes.flatMap(({ after }) => after ?? []);
  if (added.length === 0) return;
  const changed = new Set(changes.map(({ place }) => keyOf(place)));
  const others = (await listDnsRecords(transaction, zoneId)).filter((set) => !changed.has(keyOf(set)));
  if (others.length + added.length > maxRecordSets) {
    throw zoneFull(zoneName);
  }
  const nameServers = { ttl: 300, names: ["ns.invalid"] };
  const [only, ...more] = changes;
  const details = only !== undefined && more.length === 0 ? only.place : {};
  // New ones last, so that an error names one of them.
  const recordSets = [...others, ...added];
  refusingBadValues(() => compileZone({ name: zoneName, serial: 1, soa, nameServers, recordSets }), details);
}

export function zoneFull(zone: string): Refused {
  return new Refused("zone_full", `A zone can have at most ${maxRecordSets} record sets.`, { zone });
}

/** Identifies a record set within its zone. */
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
