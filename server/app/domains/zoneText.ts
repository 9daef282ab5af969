/** Reads an uploaded zone file. */
import { maxValueLength } from "@sitewright/contract/domains/dnsRecords.ts";
import { BadZoneFile } from "@sitewright/dns/zoneFiles/entries.ts";
import {
  readZoneFile,
  type SkippedEntry,
  toRecordSets,
  type ZoneFile,
  type ZoneFileRecord,
} from "@sitewright/dns/zoneFiles/readZoneFile.ts";
import { isPublicName, isWithinDomain } from "@sitewright/server/domains/names.ts";
import type { DnsRecordSetRow } from "@sitewright/server/store/domains/dnsRecords.ts";
import { Refused } from "../failures.ts";
import { maxRecordSets, zoneFull } from "./zoneChecks.ts";

/** The limits of single record sets in the contract. */
const minTtl = 300;
const maxValues = 200;

interface Place {
  readonly name: string;
  readonly type: string;
}

interface ImportingDomain {
  readonly domainName: string;
  readonly zoneName: string;
  /** The company's domains in the zone. */
  readonly domainNames: readonly string[];
  /** Names that have records. */
  readonly names: readonly string[];
}

interface ZoneText {
  readonly sets: readonly DnsRecordSetRow[];
  readonly skipped: readonly SkippedEntry[];
  /** Whether the file has records there that were skipped and says nothing about the ones that exist. */
  isSkipped(place: Place): boolean;
}

/** Returns the record sets of the file. Throws `Refused` if the file can't be read, or is for another domain. */
export function readZoneText(text: string, domain: ImportingDomain): ZoneText {
  const { domainName, zoneName, names } = domain;
  const skippedPlaces = new Set<string>();
  const outside: string[] = [];
  const skip = (place: Place) => {
    const reason = reasonToSkip(place, domain);
    if (reason !== null) skippedPlaces.add(placeKey(place));
    if (place.type !== "SOA" && !isWithinDomain(place.name, domainName)) outside.push(place.name);
    return reason;
  };
  const { records, skipped } = read(text, domainName, { parent: zoneName, skip, isPublicName, names });
  const [foreign] = outside;
  if (records.length === 0 && foreign !== undefined) {
    const message = `No record in the file is within "${domainName}". Its first one is "${foreign}".`;
    throw new Refused("outside_the_domain", message, { field: "zone_file" });
  }
  refuseTooLong(records);
  const sets = toRecordSets(records);
  refuseTooMany(sets, zoneName);
  return {
    sets: sets.map((set) => ({ ...set, ttl: Math.max(set.ttl, minTtl) })),
    skipped,
    isSkipped: (place) => skippedPlaces.has(placeKey(place)),
  };
}

function placeKey({ name, type }: Place): string {
  return `${name} ${type}`;
}

/** Records that would not be served as at the previous provider, or would take the domain away from this installation. */
function reasonToSkip({ name, type }: Place, { domainName, zoneName, domainNames }: ImportingDomain): string | null {
  if (type === "SOA") return "Every zone has an SOA record of this installation";
  if (!isWithinDomain(name, domainName)) return `The name is not within ${domainName}`;
  if (type === "NS" && name === domainName) return "The domain has the name servers of this installation";
  if (type === "DS" && name === domainName) return "The registrar publishes the DS records of a domain";
  const delegated = domainNames.find((own) => isWithinDomain(own, name));
  if ((type === "NS" || type === "DS") && delegated !== undefined)
    return `This would give ${delegated} to other name servers. Create the record to do that`;
  if (type === "CNAME" && name === zoneName) return "A domain has other records, so it can't have a CNAME record";
  return null;
}

function read(text: string, ...more: [origin: string, options: Parameters<typeof readZoneFile>[2]]): ZoneFile {
  try {
    return readZoneFile(text, ...more);
  } catch (error) {
    if (!(error instanceof BadZoneFile)) throw error;
    throw new Refused("zone_file_unreadable", `${error.message}.`, { line: error.line });
  }
}

function refuseTooLong(records: readonly ZoneFileRecord[]): void {
  const long = records.find(({ value }) => value.length > maxValueLength);
  if (long === undefined) return;
  const message = `Line ${long.line}: The value is longer than ${maxValueLength} characters.`;
  throw new Refused("zone_file_unreadable", message, { line: long.line });
}

/** Called first of all, since later checks compare all values with each other. */
function refuseTooMany(sets: readonly DnsRecordSetRow[], zoneName: string): void {
  const [largest] = sets.toSorted((one, other) => other.values.length - one.values.length);
  if (largest !== undefined && largest.values.length > maxValues) {
    const message = `"${largest.name}" has ${largest.values.length} ${largest.type} records in the file. The maximum is ${maxValues}.`;
    throw new Refused("zone_full", message, { name: largest.name, type: largest.type });
  }
  if (sets.length > maxRecordSets) throw zoneFull(zoneName);
}
