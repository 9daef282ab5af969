import { describe, expect, test } from "vitest";
import { type Answer, answerQuestion, type Entry } from "./answer.ts";
import { readOwner, writeName } from "./names.ts";
import { typeOfCode } from "./records/recordTypes.ts";
import { blog, makeZone, set, shop, writtenZones } from "./testing/zones.ts";
import { createZones } from "./zones.ts";

const types: Record<string, number> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  DS: 43,
  SVCB: 64,
  HTTPS: 65,
  ANY: 255,
};
const fail = (zone: string, error: unknown): never => {
  throw new Error(`${zone}: ${error}`);
};

/** The example of RFC 4592, 2.2.1, with valid host names. */
const wildcards = makeZone("example", [
  set("*.example", "TXT", "this is a wildcard"),
  set("*.example", "MX", "10 host1.example"),
  set("sub.star.example", "TXT", "not a wildcard"),
  set("host1.example", "A", "192.0.2.1"),
  set("_ssh._tcp.host1.example", "SRV", "0 0 22 host1.example"),
  set("_ssh._tcp.host2.example", "SRV", "0 0 22 host1.example"),
  set("subdel.example", "NS", "ns.example.com", "ns.example.net"),
]);

const inWildcards = createZones(writtenZones(wildcards), fail);
const zones = createZones(
  writtenZones(shop, blog, makeZone("sub.shop.example", [set("sub.shop.example", "A", "192.0.2.200")])),
  fail,
);

const written = (entries: readonly Entry[]): string[] =>
  entries.flatMap(({ owner, set: { type, records, ttl } }) =>
    records.map((record) => {
      const known = typeOfCode(type);
      return `${writeName(owner)} ${ttl} ${known?.name} ${known?.write(record)}`;
    }),
  );

function ask(name: string, type: string, of = zones): Answer & { rows: string[] } {
  const answer = answerQuestion(of, readOwner(name), types[type] ?? Number(type));
  return { ...answer, rows: written(answer.answers) };
}

describe("the answer has", () => {
  test("the records of a name, and addresses of the servers that they name", () => {
    expect(ask("shop.example", "A")).toMatchObject({
      rcode: 0,
      isAuthoritative: true,
      rows: ["shop.example. 300 A 192.0.2.1", "shop.example. 300 A 192.0.2.2"],
      authority: [],
    });
    expect(written(ask("shop.example", "MX").additional)).toEqual([
      "mail.shop.example. 300 A 192.0.2.25",
      "mail.shop.example. 300 AAAA 2001:db8::25",
    ]);
    expect(written(ask("_sip._tcp.shop.example", "SRV").additional)).toHaveLength(2);
    expect(written(ask("alias.shop.example", "HTTPS").additional)).toHaveLength(3);
    expect(written(ask("_8443._foo.shop.example", "SVCB").additional)).toHaveLength(2);
  });

  test("SOA and NS at the apex", () => {
    expect(ask("shop.example", "SOA").rows).toEqual([
      "shop.example. 3600 SOA ns1.example.net. hostmaster.example.net. 1 7200 900 1209600 600",
    ]);
    expect(ask("shop.example", "NS").rows).toEqual([
      "shop.example. 3600 NS ns1.example.net.",
      "shop.example. 3600 NS ns2.example.net.",
    ]);
  });

  test.each([
    ["nothing.shop.example", "A", 3],
    ["below.nothing.shop.example", "A", 3],
    ["www.mail.shop.example", "A", 3],
    ["shop.example", "SRV", 0],
    ["shop.example", "65280", 0],
    ["below.shop.example", "A", 0],
    ["_tcp.shop.example", "SRV", 0],
    ["below.shop.example", "ANY", 0],
  ])("%s %s: no records, and the SOA record for negative caching (%i)", (name, type, rcode) => {
    const answer = ask(name, type);
    expect(answer).toMatchObject({ rcode, isAuthoritative: true, rows: [] });
    expect(written(answer.authority)).toEqual([expect.stringMatching(/^shop\.example\. 600 SOA /)]);
  });

  test("a single record set for ANY", () => {
    expect(ask("shop.example", "ANY").rows).toHaveLength(1);
    expect(ask("mail.shop.example", "ANY").rows).toEqual(["mail.shop.example. 300 A 192.0.2.25"]);
    expect(ask("www.shop.example", "ANY").rows).toEqual(["www.shop.example. 300 CNAME shop.example."]);
  });

  test("REFUSED for names outside all zones", () => {
    expect(ask("example.org", "A")).toMatchObject({ rcode: 5, isAuthoritative: false, authority: [] });
    expect(ask(".", "NS")).toMatchObject({ rcode: 5 });
  });

  test("SERVFAIL for a zone that can't be served", () => {
    const broken = makeZone("a.example", [set("a.example", "A", "no")]);
    expect(
      ask(
        "a.example",
        "A",
        createZones(writtenZones(broken), () => undefined),
      ),
    ).toMatchObject({ rcode: 2 });
  });
});

describe("aliases", () => {
  test("are followed, also into other zones of this server", () => {
    expect(ask("www.shop.example", "AAAA").rows).toEqual([
      "www.shop.example. 300 CNAME shop.example.",
      "shop.example. 300 AAAA 2001:db8::1",
    ]);
    expect(ask("next.shop.example", "A").rows).toEqual([
      "next.shop.example. 300 CNAME www.blog.example.",
      "www.blog.example. 300 A 198.51.100.2",
    ]);
  });

  test("are not followed for CNAME questions and to names outside all zones", () => {
    expect(ask("www.shop.example", "CNAME").rows).toEqual(["www.shop.example. 300 CNAME shop.example."]);
    expect(ask("out.shop.example", "A")).toMatchObject({
      rcode: 0,
      isAuthoritative: true,
      authority: [],
      rows: ["out.shop.example. 300 CNAME elsewhere.example.org."],
    });
  });

  test("to missing names get the negative answer of the target", () => {
    expect(ask("gone.shop.example", "A")).toMatchObject({ rcode: 3, rows: [expect.stringContaining("CNAME")] });
    const nodata = ask("next.shop.example", "MX");
    expect(nodata).toMatchObject({ rcode: 0, rows: [expect.stringContaining("CNAME")] });
    expect(written(nodata.authority)).toEqual([expect.stringMatching(/^blog\.example\. 600 SOA/)]);
  });

  test("that form a loop or a long chain are cut off", () => {
    expect(ask("ring1.shop.example", "A").rows).toHaveLength(2);
    const links = Array.from({ length: 30 }, (_, n) => set(`l${n}.a.example`, "CNAME", `l${n + 1}.a.example`));
    const answer = ask("l0.a.example", "A", createZones(writtenZones(makeZone("a.example", links)), fail));
    expect(answer.rows).toHaveLength(8);
  });
});

describe("delegated names", () => {
  test.each(["lab.shop.example", "x.lab.shop.example", "ns.lab.shop.example"])("%s: a referral", (name) => {
    const answer = ask(name, "A");
    expect(answer).toMatchObject({ rcode: 0, isAuthoritative: false, rows: [], needsAdditional: true });
    expect(written(answer.authority)).toEqual([
      "lab.shop.example. 300 NS ns.lab.shop.example.",
      "lab.shop.example. 300 NS ns.other.example.",
    ]);
    expect(written(answer.additional)).toEqual(["ns.lab.shop.example. 300 A 192.0.2.53"]);
  });

  test("DS is answered by the parent zone", () => {
    expect(ask("lab.shop.example", "DS")).toMatchObject({
      rcode: 0,
      isAuthoritative: true,
      rows: [`lab.shop.example. 300 DS 12345 13 2 ${"8A".repeat(32)}`],
    });
    expect(ask("host.lab.shop.example", "DS")).toMatchObject({ isAuthoritative: false, rows: [] });
    expect(written(ask("sub.shop.example", "DS").authority)).toEqual([expect.stringMatching(/^shop\.example\. /)]);
    expect(written(ask("shop.example", "DS").authority)).toEqual([expect.stringMatching(/^shop\.example\. /)]);
  });
});

describe("wildcards, as in the example of RFC 4592", () => {
  test.each([
    ["host3.example", "MX", ["host3.example. 300 MX 10 host1.example."]],
    ["foo.bar.example", "TXT", ['foo.bar.example. 300 TXT "this is a wildcard"']],
    ["*.example", "MX", ["*.example. 300 MX 10 host1.example."]],
  ])("%s %s comes from the wildcard", (name, type, rows) => {
    expect(ask(name, type, inWildcards)).toMatchObject({ rcode: 0, isAuthoritative: true, rows });
  });

  test.each([
    ["host3.example", "A", 0],
    ["host1.example", "MX", 0],
    ["_tcp.host1.example", "TXT", 0],
    ["_telnet._tcp.host1.example", "SRV", 3],
    ["host2.example", "TXT", 0],
    ["x.host2.example", "TXT", 3],
    ["ghost.star.example", "MX", 3],
  ])("%s %s does not", (name, type, rcode) => {
    expect(ask(name, type, inWildcards)).toMatchObject({ rcode, isAuthoritative: true, rows: [] });
  });

  test("a delegation comes before the wildcard", () => {
    expect(ask("host.subdel.example", "A", inWildcards)).toMatchObject({ isAuthoritative: false, rows: [] });
  });

  test("names of a wildcard share one source, and so do missing names", () => {
    expect(ask("a.any.shop.example", "A").source).toBe(ask("b.any.shop.example", "A").source);
    expect(ask("a.shop.example", "A").source).toBe(ask("b.c.shop.example", "A").source);
    expect(ask("there.any.shop.example", "A")).toMatchObject({ rcode: 0, rows: [] });
  });
});
