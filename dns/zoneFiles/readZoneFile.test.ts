import { describe, expect, test } from "vitest";
import { readZoneFile, toRecordSets } from "./readZoneFile.ts";

const zone = "shop.example";
const rowsOf = (text: string, ...more: [origin?: string, options?: Parameters<typeof readZoneFile>[2]]) => {
  const [origin = zone, options] = more;
  return toRecordSets(readZoneFile(text, origin, options).records).flatMap(({ name, ttl, type, values }) =>
    values.map((value) => `${name} ${ttl} ${type} ${value}`),
  );
};
const skippedIn = (text: string, ...more: [origin?: string, options?: Parameters<typeof readZoneFile>[2]]) =>
  readZoneFile(text, more[0] ?? zone, more[1]).skipped.map(
    ({ line, text: words, reason }) => `${line} ${words}: ${reason}`,
  );
const noSoa = { skip: ({ type }: { type: string }) => (type === "SOA" ? "the old SOA" : null) };

describe("an export of", () => {
  test("Cloudflare has an SOA record without final dot, tags in comments and a time to live of one second", () => {
    const text = `;;
;; Domain:     shop.example.
;; Exported:   2026-11-26 10:00:00
;;
;; SOA Record
shop.example\t3600\tIN\tSOA\tada.ns.cdn.example. dns.cdn.example. 2046 10000 2400 604800 3600

;; NS Records
shop.example.\t86400\tIN\tNS\tada.ns.cdn.example.

;; A Records
blog.shop.example.\t1\tIN\tA\t192.0.2.10 ; cf_tags=cf-proxied:true

;; HTTPS Records
shop.example.\t1\tIN\tHTTPS\t1 . alpn="h3,h2"
`;
    expect(rowsOf(text, zone, noSoa)).toEqual([
      "shop.example 86400 NS ada.ns.cdn.example.",
      "blog.shop.example 1 A 192.0.2.10",
      "shop.example 1 HTTPS 1 . alpn=h3,h2",
    ]);
    expect(skippedIn(text, zone, noSoa)).toHaveLength(1);
  });

  test("an older Cloudflare has names relative to the root, and name servers to fill in", () => {
    const text = `$ORIGIN .
@\t3600\tIN\tSOA\tshop.example.\troot.shop.example.\t(
\t\t2020722413\t; serial
\t\t7200\t\t; refresh
\t\t3600\t\t; retry
\t\t86400\t\t; expire
\t\t3600)\t\t; minimum

;; NS Records (YOU MUST CHANGE THIS)
shop.example.\t300\tIN\tNS\tREPLACE&ME$WITH^YOUR@NAMESERVER.
mail.shop.example\t300\tIN\tA\t192.0.2.25
`;
    const options = { skip: ({ type }: { type: string }) => (["SOA", "NS"].includes(type) ? "the old servers" : null) };
    expect(rowsOf(text, zone, options)).toEqual(["mail.shop.example 300 A 192.0.2.25"]);
    expect(readZoneFile(text, zone, options).skipped.map(({ line }) => line)).toEqual([2, 10]);
  });

  test("GoDaddy has @ at the end of names, carriage returns and placeholders for addresses", () => {
    const text = [
      "; Domain: shop.example",
      "; Exported (y-m-d hh:mm:ss): 2026-11-26 10:00:00",
      "$ORIGIN shop.example.",
      "@\t3600\t IN \tSOA\tns01.registrar.example.\tdns.registrar.example.\t(",
      "\t\t\t\t2026112600",
      "\t\t\t\t28800",
      "\t\t\t\t7200",
      "\t\t\t\t604800",
      "\t\t\t\t600 ",
      "\t\t\t\t)",
      "@\t600\t IN \tA\tParked",
      "old\t600\t IN \tA\tWebsiteBuilder Site",
      "www\t3600\t IN \tCNAME\t@",
      "_sip._tls.@\t3600\t IN \tSRV\t100\t1\t443\tsip.shop.example",
      'sel._domainkey\t1800\t IN \tTXT\t"v=DKIM1; k=rsa; p=AAAA"\t"BBBB"',
      "mail\t3600\t IN \tMX\t0\tMX.SHOP.EXAMPLE",
    ].join("\r\n");
    expect(rowsOf(text, zone, noSoa)).toEqual([
      "www.shop.example 3600 CNAME shop.example.",
      "_sip._tls.shop.example 3600 SRV 100 1 443 sip.shop.example.",
      'sel._domainkey.shop.example 1800 TXT "v=DKIM1; k=rsa; p=AAAA" "BBBB"',
      "mail.shop.example 3600 MX 0 mx.shop.example.",
    ]);
    expect(skippedIn(text, zone, noSoa).slice(1)).toEqual([
      "11 @ 600 IN A Parked: Parked stands for an address of the previous provider",
      "12 old 600 IN A WebsiteBuilder Site: WebsiteBuilder Site stands for an address of the previous provider",
    ]);
  });

  test("cPanel has a byte order mark, escapes in unquoted texts and types that are not served", () => {
    const text = `\uFEFF; cPanel first:11.110.0.0 (update_time):1700000000 Cpanel::ZoneFile::VERSION:1.3
; Zone file for shop.example
$TTL 14400
shop.example.\t86400\tIN\tSOA\tns1.panel.example.\tjo\\.doe.panel.example.(
\t\t2024010101\t;Serial Number
\t\t3600\t;refresh
\t\t1800\t;retry
\t\t1209600\t;expire
\t\t86400\t)
mail\tIN\tCNAME\tshop.example
host\tIN\tHINFO\t"x" "y"
\tRP\tme.shop.example. text.shop.example.
\tA\t192.0.2.7
default._domainkey\t14400\tIN\tTXT\tv=DKIM1\\;\\ k=rsa\\;
key\tTXT\ta="b c"
`;
    expect(rowsOf(text, zone, noSoa)).toEqual([
      "mail.shop.example 14400 CNAME shop.example.",
      "host.shop.example 14400 A 192.0.2.7",
      'default._domainkey.shop.example 14400 TXT "v=DKIM1; k=rsa;"',
      'key.shop.example 14400 TXT "a=" "b c"',
    ]);
    expect(skippedIn(text, zone, noSoa).slice(1)).toEqual([
      '11 host IN HINFO "x" "y": Records of type HINFO are not supported',
      "12 RP me.shop.example. text.shop.example.: Records of type RP are not supported",
    ]);
  });

  test("Route 53 writes wildcards as escapes, and Windows the age of records", () => {
    const text = `\\052.shop.example. 300 IN A 192.0.2.1
\\052 300 IN TXT "x"
pc                      [AGE:3630324]\t900\tA\t192.0.2.9
                        [AGE:3630324]\tAAAA\t2001:db8::9
`;
    expect(rowsOf(text, zone)).toEqual([
      "*.shop.example 300 A 192.0.2.1",
      '*.shop.example 300 TXT "x"',
      "pc.shop.example 900 A 192.0.2.9",
      "pc.shop.example 900 AAAA 2001:db8::9",
    ]);
  });

  test("dig has records of the signature, and BIND generic types, other classes and included files", () => {
    const text = `; <<>> DiG 9.18 <<>> AXFR shop.example
shop.example. 300 IN RRSIG A 13 2 300 20260101000000 20250101000000 1 shop.example. AAAA
shop.example. 300 IN DNSKEY 257 3 13 AAAA
shop.example. 300 CLASS1 TYPE1 \\# 4 C0000201
shop.example. 300 IN TYPE65534 \\# 1 00
version.bind. 0 CH TXT "9.18"
$INCLUDE more.db
$DATE 2026
`;
    expect(rowsOf(text)).toEqual(["shop.example 300 A 192.0.2.1"]);
    expect(skippedIn(text).map((each) => each.replace(/^(\d+) .*: /, "$1 "))).toEqual([
      "2 Records of type RRSIG are not supported",
      "3 Records of type DNSKEY are not supported",
      "5 Records of type TYPE65534 are not supported",
      "6 Records of class CH are not supported",
      "7 Other files can't be included. Import their records too",
      "8 The directive $DATE is not supported",
    ]);
  });
});

describe("a name", () => {
  test.each([
    ["www", "www.shop.example"],
    ["www.shop.example", "www.shop.example"],
    ["WWW.Shop.Example", "www.shop.example"],
    ["shop.example", "shop.example"],
    ["noshop.example", "noshop.example.shop.example"],
    ["shop.example.www", "shop.example.www.shop.example"],
    ["a.@", "a.shop.example"],
    ["bücher", "xn--bcher-kva.shop.example"],
    ["*.bücher", "*.xn--bcher-kva.shop.example"],
  ])("%s becomes %s", (written, name) => {
    expect(rowsOf(`${written} 60 CNAME ${written.replace("*.", "")}`)).toEqual([
      `${name} 60 CNAME ${name.replace("*.", "")}.`,
    ]);
  });

  test("below the domain of an IDN is complete without the final dot", () => {
    expect(rowsOf("www.bücher.example 60 A 192.0.2.1", "xn--bcher-kva.example")).toEqual([
      "www.xn--bcher-kva.example 60 A 192.0.2.1",
    ]);
  });

  test("that this server can't have is skipped, with the lines that belong to it", () => {
    const text = "a 60 A 192.0.2.1\nprinter\\032room 60 A 192.0.2.2\n  60 TXT x\nb 60 A 192.0.2.3";
    expect(rowsOf(text)).toEqual(["a.shop.example 60 A 192.0.2.1", "b.shop.example 60 A 192.0.2.3"]);
    expect(readZoneFile(text, zone).skipped.map(({ line }) => line)).toEqual([2, 3]);
  });

  test("is relative to the zone of the SOA record, which may contain the domain", () => {
    const text = "example. 60 SOA a. b. 1 2 3 4 5\nwww 60 A 192.0.2.1\nwww.shop 60 A 192.0.2.2";
    expect(rowsOf(text, zone, noSoa)).toEqual(["www.example 60 A 192.0.2.1", "www.shop.example 60 A 192.0.2.2"]);
  });

  test("of the zone that contains the domain needs no final dot either", () => {
    const options = { parent: "example.com" };
    expect(rowsOf("@ 60 MX 1 mail.example.com", "shop.example.com", options)).toEqual([
      "shop.example.com 60 MX 1 mail.example.com.",
    ]);
  });
});

describe("a name in a value without final dot", () => {
  const isPublicName = (name: string) => /\.(?:com|net|de)$/.test(name);
  const targetOf = (target: string, more = "", names: string[] = []) =>
    readZoneFile(`${more}\nx 60 CNAME ${target}`, zone, { isPublicName, names }).records.at(-1)?.value;

  test.each([
    ["ghs.google.com", "", "ghs.google.com."],
    ["GHS.Google.COM", "", "ghs.google.com."],
    ["google.com", "", "google.com."],
    ["mail", "", "mail.shop.example."],
    ["mail.prod", "", "mail.prod.shop.example."],
    ["mail.de", "", "mail.de."],
    ["mail.de", "mail.de 60 A 192.0.2.1", "mail.de.shop.example."],
    ["MAIL.de", "x2 60 A 192.0.2.1\nmail.DE 60 LOC x", "mail.de.shop.example."],
    ["mail.de", "*.de 60 A 192.0.2.1", "mail.de.shop.example."],
    ["mail.de", "* 60 A 192.0.2.1", "mail.de."],
    ["shop.example", "", "shop.example."],
    ["a.google.com.@", "", "a.google.com.shop.example."],
    ["b\u00fccher.de", "", "xn--bcher-kva.de."],
    ["ghs.google.com", "$ORIGIN sub.shop.example.", "ghs.google.com."],
  ])("%s after %j means %s", (target, more, expected) => {
    expect(targetOf(target, more)).toBe(expected);
  });

  test("is in the zone if the zone has it already", () => {
    expect(targetOf("mail.de", "", ["mail.de.shop.example"])).toBe("mail.de.shop.example.");
  });

  test("is found in all types, also before the line with that name", () => {
    const text = `a 60 MX 1 in.mail.de
a 60 MX 2 mx.google.com
b 60 SRV 1 2 3 sip.google.com
c 60 NS ns.google.com
d 60 HTTPS 1 cdn.google.com
e 60 NAPTR 1 2 "" "" "" e.google.com
in.mail.de 60 A 192.0.2.1
`;
    expect(readZoneFile(text, zone, { isPublicName }).records.map(({ value }) => value)).toEqual([
      ...["1 in.mail.de.shop.example.", "2 mx.google.com.", "1 2 3 sip.google.com.", "ns.google.com."],
      ...["1 cdn.google.com.", '1 2 "" "" "" e.google.com.', "192.0.2.1"],
    ]);
  });
});

describe("the time to live", () => {
  test.each([
    ["a A 192.0.2.1", 3_600],
    ["@ SOA a b 1 2 3 4 10m\na A 192.0.2.1", 600],
    ["@ 20 SOA a b 1 2 3 4 10\na A 192.0.2.1", 20],
    ["$TTL 1h30m\na A 192.0.2.1", 5_400],
    ["$TTL 30\nb 40 A 192.0.2.1\na A 192.0.2.1", 30],
    ["b 40 A 192.0.2.1\na A 192.0.2.1", 40],
    ["a 50 A 192.0.2.1\na IN 40 A 192.0.2.2", 40],
  ])("%j is %i", (text, ttl) => {
    const sets = toRecordSets(readZoneFile(text, zone).records);
    expect(sets.find(({ name }) => name === "a.shop.example")?.ttl).toBe(ttl);
  });
});

test("lines end with any combination of carriage return and line feed", () => {
  const text = "a 60 A 192.0.2.1\rb 60 A 192.0.2.2\r\nc 60 A 192.0.2.3\nd 60 LOC x";
  expect(rowsOf(text)).toHaveLength(3);
  expect(skippedIn(text)).toEqual(["4 d 60 LOC x: Records of type LOC are not supported"]);
});

test("$GENERATE makes a limited number of characters, and is one line", () => {
  const text = [
    "$GENERATE 0-9999 a$ 60 LOC x",
    "$GENERATE 1-2 b$ 60 A 192.0.2.1",
    "$GENERATE 0-9999999999 c$ 60 A 192.0.2.1",
    `$GENERATE 1-2000 d$ 60 TLSA 3 0 0 ${"00".repeat(2_000)}`,
  ].join("\n");
  const reasons = readZoneFile(text, zone).skipped.map(({ line, reason }) => `${line} ${reason}`);
  const tooMany = "$GENERATE can make at most 1000000 characters in a file";
  expect(reasons).toEqual(["1 Records of type LOC are not supported", `3 ${tooMany}`, `4 ${tooMany}`]);
  expect(rowsOf(text)).toHaveLength(2);
});

test("long words are shortened in messages", () => {
  const long = "x".repeat(1_000);
  const text = `a ${long} y\n$${long} y\na CLASS${"9".repeat(1_000)} A x\na A ${long}`;
  expect(readZoneFile(text, zone).skipped.map(({ reason }) => reason.length < 200)).toEqual([true, true, true, true]);
  expect(() => readZoneFile(`$TTL ${long}`, zone)).toThrow(/^.{0,200}$/);
});
