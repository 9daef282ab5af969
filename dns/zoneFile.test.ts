import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readZoneFile } from "./readZoneFile.ts";
import { recordType } from "./records/recordTypes.ts";
import type { DnsRecordSet } from "./table.ts";
import { tool } from "./testing/tools.ts";
import { makeFolder } from "./testing/withDns.ts";
import { blog, makeZone, set, shop } from "./testing/zones.ts";
import { writeZoneFile } from "./zoneFile.ts";

const canonical = ({ name, type, ttl, values }: DnsRecordSet): DnsRecordSet => {
  const { read, write } = recordType(type);
  return { name, type, ttl, values: values.map((value) => write(read(value))) };
};

const odd = makeZone("odd.example", [
  set("odd.example", "TXT", "x".repeat(700), '"a;b" "\\"q\\" \\\\ \\001"', "grün"),
  set("*.odd.example", "CAA", '0 iodef "mailto:x@example.com"'),
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
    expect(sorted(readZoneFile(text, "odd.example"))).toHaveLength(12);
  });

  test.each([
    [1, "www A 192.0.2.1", "no time to live"],
    [1, "  60 A 192.0.2.1", "no name"],
    [2, "$TTL 60\nwww A 192.0.2.999", "not an IPv4"],
    [2, "$TTL 60\n$INCLUDE other", "$INCLUDE is not supported"],
    [1, "$GENERATE 1-2 a A 192.0.2.$", "exactly one value"],
    [1, "www 60 CH A 192.0.2.1", "Class CH"],
    [1, "www 60 IN", "no record"],
    [1, "www 60 IN NAPTR 1 2 3", "type NAPTR are not supported"],
    [3, '\n; only a comment\nwww 60 TXT "open', "quotation mark"],
    [2, "\n@ 60 SOA a b ( 1 2 3 4 5\n\n", "closing parenthesis"],
    [1, "@ 60 TXT a ) b", "parenthesis"],
    [1, "ba!d 60 A 192.0.2.1", "domain name"],
    [2, "a 60 A 192.0.2.1\na 61 A 192.0.2.2", "one time to live"],
    [1, "a 9999999999 A 192.0.2.1", "longer than"],
    [1, "@ 60 MX 10 mail more", "preference name"],
    [3, "@ 60 TXT (a\nb)\n@ 60 A x", "IPv4"],
  ])("with an error is rejected as a whole: line %i of %j", (line, text, reason) => {
    expect(() => readZoneFile(text, "a.example")).toThrow(expect.objectContaining({ line }));
    expect(() => readZoneFile(text, "a.example")).toThrow(reason);
  });
});
