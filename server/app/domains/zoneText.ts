/** Reads an uploaded zone file. */
import { dnsRecordTypes } from "@sitewright/contract/domains/dnsRecords.ts";
import { readZoneFile } from "@sitewright/dns/readZoneFile.ts";
import type { DnsRecordSet } from "@sitewright/dns/table.ts";
import { BadZoneFile } from "@sitewright/dns/zoneFileEntries.ts";
import type { DnsRecordSetRow } from "@sitewright/server/store/domains/dnsRecords.ts";
import type { ZoneOfDomain } from "@sitewright/server/store/domains/zones.ts";
import { Refused } from "../failures.ts";
import { maxRecordSets, readRecordName, zoneFull } from "./zoneChecks.ts";

/** The limits of single record sets in the contract. */
const minTtl = 300;
const maxValues = 200;

/**
 * Returns the record sets of the file. The SOA record and this installation's name servers are ignored, since such files come
 * from the previous provider. Throws `Refused` if the file can't be read.
 */
export function readZoneText(
  text: string,
  zone: Pick<ZoneOfDomain, "domainName" | "zoneName">,
  dnsNames: readonly string[],
): readonly DnsRecordSetRow[] {
  const { domainName, zoneName } = zone;
  const isIgnored = ({ name, type, values }: DnsRecordSet) => {
    if (name !== domainName || (type !== "SOA" && type !== "NS")) return false;
    return type === "SOA" || domainName === zoneName || values.every((value) => dnsNames.includes(withoutDot(value)));
  };
  const sets = read(text, domainName).filter((set) => !isIgnored(set));
  const unsupported = sets.find(({ type }) => !dnsRecordTypes.some((each) => each === type));
  if (unsupported !== undefined) {
    const { name, type } = unsupported;
    const message = `"${name}" has ${type} records in the file, which are not supported. Leave them out.`;
    throw new Refused("zone_file_unreadable", message, { name, type });
  }
  // First of all, since later checks compare all values with each other.
  const [largest] = sets.toSorted((one, other) => other.values.length - one.values.length);
  if (largest !== undefined && largest.values.length > maxValues) {
    const message = `"${largest.name}" has ${largest.values.length} ${largest.type} records in the file. The maximum is ${maxValues}.`;
    throw new Refused("zone_full", message, { name: largest.name, type: largest.type });
  }
  if (sets.length > maxRecordSets) throw zoneFull(zoneName);
  return sets.map(({ name, type, ttl, values }) => ({
    name: readRecordName(name, domainName),
    type,
    ttl: Math.max(ttl, minTtl),
    values,
  }));
}

function withoutDot(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

function read(text: string, origin: string): readonly DnsRecordSet[] {
  try {
    return readZoneFile(text, origin);
  } catch (error) {
    if (!(error instanceof BadZoneFile)) throw error;
    throw new Refused("zone_file_unreadable", `${error.message}.`, { line: error.line });
  }
}
