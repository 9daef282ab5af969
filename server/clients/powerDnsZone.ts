/** A zone as PowerDNS has it, and what is to be changed there for it to be one of ours. */
import { readOwner, writeName } from "@sitewright/dns/names.ts";
import { BadValue } from "@sitewright/dns/records/badValue.ts";
import { recordType } from "@sitewright/dns/records/recordTypes.ts";
import type { DnsRecordSet, DnsZone } from "@sitewright/dns/table.ts";
import { allRecordSets } from "@sitewright/dns/wholeZone.ts";
import type { RrSet, RrSetChange } from "./powerDnsApi.ts";

/** Throws `BadValue` if something in it can't be served. */
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

/** None if it has what is wanted, whatever its serial is. */
export function changesOf(wanted: readonly RrSet[], there: readonly RrSet[]): readonly RrSetChange[] {
  const old = new Map(there.map((set) => [keyOf(set), set]));
  const young = new Set(wanted.map(keyOf));
  const removed = there.filter((set) => !young.has(keyOf(set)));
  const changed = wanted.filter((set) => !isSame(set, old.get(keyOf(set))));
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
  const contents = new Set(one.records.map(({ content }) => plain(one.type, content)));
  return other.records.every(({ content, disabled }) => !disabled && contents.has(plain(one.type, content)));
}

/** However it is written; of an SOA without its serial. */
function plain(type: string, content: string): string {
  try {
    const { read, write } = recordType(type);
    const written = write(read(content));
    return type === "SOA" ? written.split(" ").toSpliced(2, 1).join(" ") : written;
  } catch (error) {
    // Changed by someone else.
    if (error instanceof BadValue) return content;
    throw error;
  }
}
