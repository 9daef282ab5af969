import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { recordType } from "../records/recordTypes.ts";
import type { DnsRecordSet } from "../table.ts";
import { tool } from "../testing/tools.ts";
import { makeFolder } from "../testing/withDns.ts";
import { blog, makeZone, set, shop } from "../testing/zones.ts";
import { readZoneFile as read, toRecordSets } from "./readZoneFile.ts";
import { writeZoneFile } from "./writeZoneFile.ts";

const canonical = ({ name, type, ttl, values }: DnsRecordSet): DnsRecordSet => {
  const { read, write } = recordType(type);
  return { name, type, ttl, values: values.map((value) => write(read(value))) };
};

const readZoneFile = (text: string, origin: string) => toRecordSets(read(text, origin).records);

const odd = makeZone("odd.example", [
  set("odd.example", "TXT", "x".repeat(700), '"a;b" "\\"q\\" \\\\ \\001"', "grün"),
  set("*.odd.example", "CAA", '0 iodef "mailto:x@example.com"'),
  set("svcb.odd.example", "SVCB", '1 . key667="a b;\\\\\\"c"', "2 x.odd.example alpn=a\\\\\\\\b,h2"),
  set("e164.odd.example", "NAPTR", '1 2 "" "" "!a;b!c d!" .', '1 2 "" "" "" x.odd.example'),
]);

describe("a zone file", () => {
  test.each([shop, blog, odd])("is accepted by named-checkzone, and is read as the same zone", async (zone) => {
    const file = path.join(await makeFolder(), "zone");
    const text = writeZoneFile(zone);
    await writeFile(file, text);
    expect(await tool("named-checkzone", "-i", "local-sibling", zone.name, file)).toMatch(/OK\n$/);
    const [soa, ns, ...rest] = readZoneFile(text, zone.name);
    expect(rest).toEqual(zone.recordSets.map(canonical));
    expect(soa).toMatchObject({ name: zone.name, type: "SOA", ttl: 3_600 });
    expect(ns).toMatchObject({ type: "NS", values: ["ns1.example.net.", "ns2.example.net."] });
  });

  test("is read like by named-compilezone", async () => {
    const text = `; written by a person
$TTL 1h
@   IN SOA ns1 hostmaster (
        2024010101 ; serial
        2h 15m     ; refresh, retry
        2w 10m )
    IN NS ns1
    NS ns2.other.example.
ns1 300 IN A 192.0.2.1
    IN 300 AAAA 2001:db8::1
@   MX 10 mail
www CNAME @
mail 1d A 192.0.2.2
txt TXT one "two ; no comment" three
$ORIGIN sub.odd.example.
a   A 192.0.2.3
*   A 192.0.2.4
$TTL 60
_sip._tcp SRV 0 5 5060 a
web HTTPS 1 . alpn="h3,h2" ipv4hint=192.0.2.1
enum NAPTR 1 2 U E2U+sip "!^.*$!sip:a@odd.example!" .
enum NAPTR 1 3 "" "" "" a
_443._tcp TLSA ( 3 1 1 0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d
   0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d )
generic TYPE1 \\# 4 C0000205
generic IN TYPE65 \\# 3 00 00 00
$GENERATE 1-5/2 host$ A 192.0.2.\${10}
$GENERATE 254-256 \${0,4,x} CNAME \${-250}.a
$GENERATE 26-27 \${0,3,n}.ip6 TXT "cost\\$$"
`;
    const folder = await makeFolder();
    const [original, compiled] = [path.join(folder, "original"), path.join(folder, "compiled")];
    await writeFile(original, text);
    await tool("named-compilezone", "-i", "none", "-o", compiled, "odd.example", original);
    const compiledText = await readFile(compiled, "utf8");
    const sorted = (sets: readonly DnsRecordSet[]) =>
      sets
        .flatMap(({ name, type, ttl, values }) => values.map((value) => `${name} ${ttl} ${type} ${value}`))
        .toSorted();
    expect(sorted(readZoneFile(text, "odd.example"))).toEqual(sorted(readZoneFile(compiledText, "odd.example")));
    expect(sorted(readZoneFile(text, "odd.example"))).toHaveLength(26);
  });

  test.each([
    [1, "  60 A 192.0.2.1", "no name"],
    [2, "$TTL 60\nwww A 192.0.2.999", "not an IPv4"],
    [1, "$GENERATE 2-1 a A 192.0.2.$", "must be like"],
    [1, "$GENERATE 1-2/0 a A 192.0.2.$", "must be like"],
    [1, "$GENERATE 1-2", "must be like"],
    [1, "$GENERATE 1-2 a$\x7b-5} A 192.0.2.1", "negative"],
    [1, "$ORIGIN", "exactly one value"],
    [1, "www 60 IN", "no record"],
    [1, "www 60 IN NAPTR 1 2 3", "Expected order"],
    [1, "www 60 IN A \\# 3 c0a801", "not an IPv4"],
    [3, '\n; only a comment\nwww 60 TXT "open', "quotation mark"],
    [2, "\n@ 60 SOA a b ( 1 2 3 4 5\n\n", "closing parenthesis"],
    [1, "@ 60 TXT a ) b", "parenthesis"],
    [1, "a 9999999999 A 192.0.2.1", "longer than"],
    [1, "@ 60 MX 10 mail more", "preference name"],
    [3, "@ 60 TXT (a\nb)\n@ 60 A x1", "IPv4"],
  ])("with an error is rejected as a whole: line %i of %j", (line, text, reason) => {
    expect(() => readZoneFile(text, "a.example")).toThrow(expect.objectContaining({ line }));
    expect(() => readZoneFile(text, "a.example")).toThrow(reason);
  });
});
