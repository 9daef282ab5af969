/** Builds the DNS server's table from the database rows. */
import type { DnsRecordSet, DnsTable } from "@sitewright/dns/table.ts";
import { namesAbove } from "../domains/names.ts";
import { type DnsNames, servedZone } from "../domains/servedZone.ts";
import type { DnsChallenge } from "../store/domains/dnsChallenges.ts";
import type { MergedZone } from "./mergeZones.ts";

const challengeTtl = 60;

/** Zone transfers: the secondaries and their keys. */
export type Transfers = Pick<DnsTable, "secondaries" | "keys">;
export const noTransfers: Transfers = { secondaries: [], keys: [] };

export function zoneTable(
  generation: number,
  rows: { readonly zones: readonly MergedZone[]; readonly challenges: readonly DnsChallenge[] },
  { names, transfers }: { readonly names: DnsNames; readonly transfers: Transfers },
): DnsTable {
  const zoneNames = new Set(rows.zones.map(({ name }) => name));
  const challenges = Map.groupBy(rows.challenges, ({ name }) => nearest(name, zoneNames));
  const zones = rows.zones.map((zone) =>
    servedZone(zone, withChallenges(zone.records, challenges.get(zone.name) ?? []), names),
  );
  return { generation, zones, ...transfers };
}

/** The innermost zone that contains the name. */
function nearest(name: string, zoneNames: ReadonlySet<string>): string | undefined {
  return [name, ...namesAbove(name)].find((each) => zoneNames.has(each));
}

/** Adds challenges as TXT records. A name with a CNAME is left alone: the authority follows it. */
function withChallenges(records: readonly DnsRecordSet[], challenges: readonly DnsChallenge[]): DnsRecordSet[] {
  const sets = [...records];
  for (const [name, own] of Map.groupBy(challenges, (challenge) => challenge.name)) {
    if (sets.some((set) => set.name === name && set.type === "CNAME")) continue;
    const values = own.map(({ value }) => JSON.stringify(value));
    const index = sets.findIndex((set) => set.name === name && set.type === "TXT");
    const existing = sets[index];
    if (existing === undefined) sets.push({ name, type: "TXT", ttl: challengeTtl, values });
    else sets[index] = { ...existing, values: [...existing.values, ...values] };
  }
  return sets;
}
