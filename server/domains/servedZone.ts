/** Adds SOA and NS to a zone's records. */
import type { DnsRecordSet, DnsZone } from "@sitewright/dns/table.ts";

export interface DnsNames {
  /** Names of this installation's DNS servers, the primary first. */
  readonly dnsNames: readonly string[];
  readonly siteSuffix: string;
}

const hour = 3_600;
const times = { ttl: hour, refresh: 2 * hour, retry: 900, expire: 14 * 24 * hour, negativeTtl: 300 };

export function servedZone(
  { name, serial }: { readonly name: string; readonly serial: number },
  recordSets: readonly DnsRecordSet[],
  { dnsNames, siteSuffix }: DnsNames,
): DnsZone {
  return {
    name,
    serial,
    soa: { ...times, primary: dnsNames[0] ?? siteSuffix, mailbox: `hostmaster.${siteSuffix}` },
    nameServers: { ttl: hour, names: dnsNames },
    recordSets,
  };
}
