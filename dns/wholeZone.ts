/** All record sets of a zone, including SOA and name servers. */
import type { DnsRecordSet, DnsZone } from "./table.ts";

export function soaRecordSet({ name, serial, soa }: Pick<DnsZone, "name" | "serial" | "soa">): DnsRecordSet {
  const { primary, mailbox, refresh, retry, expire, negativeTtl } = soa;
  const value = `${primary} ${mailbox} ${serial} ${refresh} ${retry} ${expire} ${negativeTtl}`;
  return { name, type: "SOA", ttl: soa.ttl, values: [value] };
}

export function nameServerRecordSet({ name, nameServers }: Pick<DnsZone, "name" | "nameServers">): DnsRecordSet {
  return { name, type: "NS", ttl: nameServers.ttl, values: nameServers.names };
}

/** SOA comes first, as in zone files. */
export function allRecordSets(zone: DnsZone): readonly DnsRecordSet[] {
  return [soaRecordSet(zone), nameServerRecordSet(zone), ...zone.recordSets];
}
