/** Reads an uploaded zone file. */
import { dnsRecordTypes } from "@sitewright/contract/domains/dnsRecords.ts";
import { readZoneFile } from "@sitewright/dns/readZoneFile.ts";
import type { DnsRecordSet } from "@sitewright/dns/table.ts";
import { BadZoneFile } from "@sitewright/dns/zoneFileEntries.ts";
import type { DnsRecordSetRow } from "@sitewright/server/store/domains/dnsRecords.ts";
import type { ZoneOfDomain } from "@sitewright/server/store/domains/zones.ts";
import { Refused } from "../failures.ts";
import { mostRecordSets, readRecordName, zoneFull } from "./zoneChecks.ts";

/** What single record sets have at least, too. */
const leastTtl = 300;
/** The same. */
const mostValues = 200;

/**
 * The record sets that it wants the domain to have. Who is responsible for a zone, and which servers answer for it, is not taken
 * from a file: moving in is what these files are for. Throws `Refused`.
 */
export function readZoneText(
  text: string,
  zone: Pick<ZoneOfDomain, "domainName" | "zoneName">,
  dnsNames: readonly string[],
): readonly DnsRecordSetRow[] {
  const { domainName, zoneName } = zone;
  const isOurs = ({ name, type, values }: DnsRecordSet) => {
    if (name !== domainName || (type !== "SOA" && type !== "NS")) return false;
    return type === "SOA" || domainName === zoneName || values.every((value) => dnsNames.includes(withoutDot(value)));
  };
  const sets = read(text, domainName).filter((set) => !isOurs(set));
  const odd = sets.find(({ type }) => !dnsRecordTypes.some((each) => each === type));
  if (odd !== undefined) {
    const message = `"${odd.name}" has ${odd.type} records in the file, which are not taken here: leave them out.`;
    throw new Refused("zone_file_unreadable", message, { name: odd.name, type: odd.type });
  }
  // Before anything is compared with anything.
  const [largest] = sets.toSorted((one, other) => other.values.length - one.values.length);
  if (largest !== undefined && largest.values.length > mostValues) {
    const message = `"${largest.name}" has ${largest.values.length} ${largest.type} records in the file, and ${mostValues} are the most.`;
    throw new Refused("zone_full", message, { name: largest.name, type: largest.type });
  }
  if (sets.length > mostRecordSets) throw zoneFull(zoneName);
  return sets.map(({ name, type, ttl, values }) => ({
    name: readRecordName(name, domainName),
    type,
    ttl: Math.max(ttl, leastTtl),
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
