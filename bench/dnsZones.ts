/** Zones for the DNS benchmark, with twenty records each. */
import type { DnsTable, DnsZone } from "@sitewright/dns/table.ts";

export const zoneCount = 10_000;
export const recordsPerZone = 20;

export const zoneName = (number: number): string => `customer-${number}.example`;

function zone(number: number): DnsZone {
  const name = zoneName(number);
  const set = (owner: string, type: string, ...values: string[]) => ({ name: owner, type, ttl: 300, values });
  const hosts = Array.from({ length: 8 }, (_, host) => set(`host-${host}.${name}`, "A", `198.51.100.${host + 1}`));
  return {
    name,
    serial: 2_026_010_101,
    soa: {
      ttl: 3_600,
      primary: "ns1.provider.example",
      mailbox: "hostmaster.provider.example",
      refresh: 7_200,
      retry: 900,
      expire: 1_209_600,
      negativeTtl: 600,
    },
    nameServers: { ttl: 3_600, names: ["ns1.provider.example", "ns2.provider.example"] },
    // With SOA and two NS records: 20.
    recordSets: [
      set(name, "A", "192.0.2.1"),
      set(name, "AAAA", "2001:db8::1"),
      set(name, "MX", `10 mail.${name}`),
      set(name, "TXT", "v=spf1 include:_spf.provider.example ~all"),
      set(name, "CAA", '0 issue "letsencrypt.org"'),
      set(`mail.${name}`, "A", "192.0.2.25"),
      set(`www.${name}`, "CNAME", name),
      set(`key._domainkey.${name}`, "TXT", `v=DKIM1; k=rsa; p=${"MIGfMA0GCSqGSIb3".repeat(13)}`),
      set(`*.preview.${name}`, "A", "192.0.2.2"),
      ...hosts,
    ],
  };
}

export function makeTable(): DnsTable {
  const zones = Array.from({ length: zoneCount }, (_, number) => zone(number));
  return { generation: 1, zones, secondaries: [], keys: [] };
}

/**
 * Queries for a zone in dnsperf's format: mostly addresses, one through a CNAME, and one for a name that does not
 * exist.
 */
export function queriesFor(number: number): string[] {
  const name = zoneName(number);
  return [`www.${name} A`, `${name} A`, `${name} AAAA`, `${name} MX`, `host-3.${name} A`, `nothing.${name} A`];
}
