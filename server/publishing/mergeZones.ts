/** Merges the zones that companies have for the same name into the one that the DNS server serves. */
import { ownershipRecord } from "../domains/records.ts";
import { zoneNamesOf } from "../domains/zoneNames.ts";
import type { DnsRecordSetRow } from "../store/domains/dnsRecords.ts";
import type { DomainInZone, StoredZone } from "../store/domains/zones.ts";

export interface MergedZone {
  readonly name: string;
  readonly serial: number;
  readonly records: readonly DnsRecordSetRow[];
}

const proofTtl = 60;

/** Leaves out zones in which nothing is served. */
export function mergeZones(zones: readonly StoredZone[], domains: readonly DomainInZone[]): readonly MergedZone[] {
  const domainsOf = Map.groupBy(domains, ({ zoneName }) => zoneName);
  return [...Map.groupBy(zones, ({ name }) => name)].flatMap(([name, group]) => {
    const own = group.find(({ companyId }) => companyId === null);
    return own === undefined ? (mergeOne(name, group, domainsOf.get(name) ?? []) ?? []) : [own];
  });
}

function mergeOne(name: string, zones: readonly StoredZone[], domains: readonly DomainInZone[]): MergedZone | null {
  const names = zoneNamesOf(domains);
  const proofs = proofRecords(domains);
  if (!names.isServed && proofs.length === 0) return null;
  const records = zones.flatMap((zone) =>
    zone.records.filter((set) => zone.companyId !== null && names.serves(zone.companyId, set)),
  );
  return { name, serial: Math.max(...zones.map(({ serial }) => serial)), records: [...records, ...proofs] };
}

/**
 * The ownership records of a zone that is already delegated to this installation, where no one else can publish them. Only if
 * no other company has, wants or had a name in it: otherwise they would prove a name to any company that asks for it.
 */
function proofRecords(domains: readonly DomainInZone[]): readonly DnsRecordSetRow[] {
  if (new Set(domains.map(({ companyId }) => companyId)).size !== 1) return [];
  const waiting = domains.filter(({ isUnproven, usesOwnDns, hadOthers }) => isUnproven && usesOwnDns && !hadOthers);
  return waiting.map((domain) => {
    const { name, type, value } = ownershipRecord(domain);
    return { name: name.replace(/\.$/, ""), type, ttl: proofTtl, values: [JSON.stringify(value)] };
  });
}
