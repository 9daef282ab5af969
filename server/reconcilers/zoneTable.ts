/** The table that the DNS server is told, out of the rows that there are. */
import { isWithin, readOwner } from "@sitewright/dns/names.ts";
import type { DnsRecordSet, DnsTable, DnsZone } from "@sitewright/dns/table.ts";
import type { DnsChallenge } from "../store/dnsChallenges.ts";
import type { ServedZone } from "../store/zones.ts";

export interface DnsNames {
  /** Of this installation's DNS servers; the first is the primary one. */
  readonly dnsNames: readonly string[];
  readonly siteSuffix: string;
}

const hour = 3_600;
const times = { ttl: hour, refresh: 2 * hour, retry: 900, expire: 14 * 24 * hour, negativeTtl: 300 };
const challengeTtl = 60;

export function zoneTable(
  generation: number,
  rows: { readonly zones: readonly ServedZone[]; readonly challenges: readonly DnsChallenge[] },
  names: DnsNames,
): DnsTable {
  const zones = rows.zones.map((zone) => zoneOf(zone, rows, names));
  return { generation, zones, secondaries: [], keys: [] };
}

/** A zone with these records alone, as it would be served. */
export function zoneOf(
  { name, serial, records }: Omit<ServedZone, "id">,
  {
    zones,
    challenges,
  }: { readonly zones: readonly { readonly name: string }[]; readonly challenges: readonly DnsChallenge[] },
  { dnsNames, siteSuffix }: DnsNames,
): DnsZone {
  const own = challenges.filter((challenge) => nearest(challenge.name, zones) === name);
  return {
    name,
    serial,
    soa: { ...times, primary: dnsNames[0] ?? siteSuffix, mailbox: `hostmaster.${siteSuffix}` },
    nameServers: { ttl: hour, names: dnsNames },
    recordSets: withChallenges(records, own),
  };
}

/** The zone that a name is in: the longest. */
function nearest(name: string, zones: readonly { readonly name: string }[]): string | undefined {
  const owner = readOwner(name);
  const above = zones.filter((zone) => isWithin(owner, readOwner(zone.name))).map((zone) => zone.name);
  return above.toSorted((one, other) => other.length - one.length)[0];
}

/** A name that leads elsewhere keeps doing so: an authority follows it. */
function withChallenges(records: readonly DnsRecordSet[], challenges: readonly DnsChallenge[]): DnsRecordSet[] {
  const sets = [...records];
  for (const [name, own] of Map.groupBy(challenges, (challenge) => challenge.name)) {
    if (sets.some((set) => set.name === name && set.type === "CNAME")) continue;
    const values = own.map(({ value }) => JSON.stringify(value));
    const index = sets.findIndex((set) => set.name === name && set.type === "TXT");
    const there = sets[index];
    if (there === undefined) sets.push({ name, type: "TXT", ttl: challengeTtl, values });
    else sets[index] = { ...there, values: [...there.values, ...values] };
  }
  return sets;
}
