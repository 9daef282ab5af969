/** A zone's record sets, with those that every zone has. */
import type { DnsRecordSet, DnsZone } from "./table.ts";

export function soaRecordSet({ name, serial, soa }: Pick<DnsZone, "name" | "serial" | "soa">): DnsRecordSet {
  const { primary, mailbox, refresh, retry, expire, negativeTtl } = soa;
  const value = `${primary} ${mailbox} ${serial} ${refresh} ${retry} ${expire} ${negativeTtl}`;
  return { name, type: "SOA", ttl: soa.ttl, values: [value] };
}

export function nameServerRecordSet({ name, nameServers }: Pick<DnsZone, "name" | "nameServers">): DnsRecordSet {
  return { name, type: "NS", ttl: nameServers.ttl, values: nameServers.names };
}

/** SOA first, as files begin with it. */
export function allRecordSets(zone: DnsZone): readonly DnsRecordSet[] {
  return [soaRecordSet(zone), nameServerRecordSet(zone), ...zone.recordSets];
}
