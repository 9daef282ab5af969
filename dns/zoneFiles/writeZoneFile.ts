/** Writes a zone file (RFC 1035, section 5). Each line is self-contained, so that lines can be sorted and compared. */
import { readOwner, writeName } from "../names.ts";
import { recordType } from "../records/recordTypes.ts";
import type { DnsRecordSet, DnsZone } from "../table.ts";
import { allRecordSets } from "../wholeZone.ts";

/** Throws `BadValue` if the zone can't be served. */
export function writeZoneFile(zone: DnsZone): string {
  return `${allRecordSets(zone).flatMap(linesOf).join("\n")}\n`;
}

function linesOf({ name, type, ttl, values }: DnsRecordSet): string[] {
  const { read, write } = recordType(type);
  return values.map((value) => `${writeName(readOwner(name))}\t${ttl}\tIN\t${type}\t${write(read(value))}`);
}
