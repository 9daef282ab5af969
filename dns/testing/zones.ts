/** Tables and zones for tests. */
import type { DnsRecordSet, DnsTable, DnsZone } from "../table.ts";
import { readTable, type TableText, writeTable, type ZoneText } from "../tableText.ts";

export const set = (name: string, type: string, ...values: string[]): DnsRecordSet => ({
  name,
  type,
  ttl: 300,
  values,
});

export function makeZone(name: string, recordSets: readonly DnsRecordSet[] = [], serial = 1): DnsZone {
  return {
    name,
    serial,
    soa: {
      ttl: 3_600,
      primary: "ns1.example.net",
      mailbox: "hostmaster.example.net",
      refresh: 7_200,
      retry: 900,
      expire: 1_209_600,
      negativeTtl: 600,
    },
    nameServers: { ttl: 3_600, names: ["ns1.example.net", "ns2.example.net"] },
    recordSets,
  };
}

export function makeTable(zones: readonly DnsZone[], changes: Partial<DnsTable> = {}): DnsTable {
  return { generation: 1, zones, secondaries: [], keys: [], ...changes };
}

/** The table after writing and reading it. */
export function written(table: DnsTable): TableText {
  return readTable(Buffer.from(writeTable(table)));
}

export function writtenZones(...zones: readonly DnsZone[]): readonly ZoneText[] {
  return written(makeTable(zones)).zones;
}

/** A zone with all record types and special cases. */
export const shop = makeZone("shop.example", [
  set("shop.example", "A", "192.0.2.1", "192.0.2.2"),
  set("shop.example", "AAAA", "2001:db8::1"),
  set("shop.example", "MX", "10 mail.shop.example", "20 mail.other.example"),
  set("shop.example", "TXT", "v=spf1 mx -all", '"two" "texts"'),
  set("shop.example", "CAA", '0 issue "letsencrypt.org"'),
  set("mail.shop.example", "A", "192.0.2.25"),
  set("mail.shop.example", "AAAA", "2001:db8::25"),
  set("www.shop.example", "CNAME", "shop.example"),
  set("_sip._tcp.shop.example", "SRV", "0 5 5060 mail.shop.example"),
  set("old.shop.example", "SPF", "v=spf1 -all"),
  set("*.any.shop.example", "A", "192.0.2.77"),
  set("there.any.shop.example", "TXT", "here"),
  set("deep.below.shop.example", "A", "192.0.2.9"),
  set("gone.shop.example", "CNAME", "nothing.shop.example"),
  set("out.shop.example", "CNAME", "elsewhere.example.org"),
  set("next.shop.example", "CNAME", "www.blog.example"),
  set("ring1.shop.example", "CNAME", "ring2.shop.example"),
  set("ring2.shop.example", "CNAME", "ring1.shop.example"),
  set("lab.shop.example", "NS", "ns.lab.shop.example", "ns.other.example"),
  set("ns.lab.shop.example", "A", "192.0.2.53"),
  set("1.shop.example", "PTR", "host.shop.example"),
  set("shop.example", "HTTPS", '1 . alpn="h3,h2" ipv4hint=192.0.2.1 ipv6hint=2001:db8::1'),
  set("alias.shop.example", "HTTPS", "0 shop.example"),
  set("_8443._foo.shop.example", "SVCB", '1 mail.shop.example alpn=h2 port=8443 mandatory=port key7="/q{?dns}"'),
  set("_443._tcp.shop.example", "TLSA", `3 1 1 ${"0d".repeat(32)}`, "3 0 0 3082"),
  set("shop.example", "SSHFP", `4 2 ${"a1".repeat(32)}`),
  set("2.4.e164.shop.example", "NAPTR", '100 10 "U" "E2U+sip" "!^.*$!sip:info@shop.example!" .'),
  set("lab.shop.example", "DS", `12345 13 2 ${"8a".repeat(32)}`),
]);

export const blog = makeZone("blog.example", [
  set("blog.example", "A", "198.51.100.1"),
  set("www.blog.example", "A", "198.51.100.2"),
  set("big.blog.example", "TXT", ...Array.from({ length: 40 }, (_, index) => `${index} ${"long ".repeat(40)}`)),
]);
