/** Converts our zones to PowerDNS's format, and computes the changes to an existing zone. */
import { readOwner, writeName } from "@sitewright/dns/names.ts";
import { BadValue } from "@sitewright/dns/records/badValue.ts";
import { recordType } from "@sitewright/dns/records/recordTypes.ts";
import type { DnsRecordSet, DnsZone } from "@sitewright/dns/table.ts";
import { allRecordSets } from "@sitewright/dns/wholeZone.ts";
import type { RrSet, RrSetChange } from "./powerDnsApi.ts";

/** Throws `BadValue` if the zone has an invalid value. */
export function rrSetsOf(zone: DnsZone): readonly RrSet[] {
  return allRecordSets(zone).map(rrSetOf);
}

function rrSetOf({ name, type, ttl, values }: DnsRecordSet): RrSet {
  const { read, write } = recordType(type);
  const contents = new Set(values.map((value) => write(read(value))));
  return {
    name: writeName(readOwner(name)),
    type,
    ttl,
    records: [...contents].map((content) => ({ content, disabled: false })),
  };
}

/** Differences in the serial are ignored. */
export function changesOf(wanted: readonly RrSet[], existing: readonly RrSet[]): readonly RrSetChange[] {
  const existingByKey = new Map(existing.map((set) => [keyOf(set), set]));
  const wantedKeys = new Set(wanted.map(keyOf));
  const removed = existing.filter((set) => !wantedKeys.has(keyOf(set)));
  const changed = wanted.filter((set) => !isSame(set, existingByKey.get(keyOf(set))));
  return [
    ...removed.map(({ name, type }) => ({ name, type, changetype: "DELETE" as const })),
    ...changed.map((set) => ({ ...set, changetype: "REPLACE" as const })),
  ];
}

function keyOf({ name, type }: RrSet): string {
  return `${name.toLowerCase()} ${type}`;
}

function isSame(one: RrSet, other: RrSet | undefined): boolean {
  if (one.ttl !== other?.ttl || one.records.length !== other.records.length) return false;
  const contents = new Set(one.records.map(({ content }) => canonical(one.type, content)));
  return other.records.every(({ content, disabled }) => !disabled && contents.has(canonical(one.type, content)));
}

/** The content in canonical form; for an SOA without its serial. */
function canonical(type: string, content: string): string {
  try {
    const { read, write } = recordType(type);
    const written = write(read(content));
    return type === "SOA" ? written.split(" ").toSpliced(2, 1).join(" ") : written;
  } catch (error) {
    // Written by someone else.
    if (error instanceof BadValue) return content;
    throw error;
  }
}
