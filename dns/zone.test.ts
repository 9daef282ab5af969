import { describe, expect, test } from "vitest";
import { readName } from "./names.ts";
import { makeZone, set, shop, writtenZones } from "./testing/zones.ts";
import { compileZone } from "./zone.ts";
import { createZones } from "./zones.ts";

describe("a zone", () => {
  test("has empty non-terminals", () => {
    const zone = compileZone(shop);
    expect(zone.nodes.get(readName("below.shop.example"))).toEqual([]);
    expect(zone.nodes.get(readName("_tcp.shop.example"))).toEqual([]);
    expect(zone.nodes.has(readName("nothing.shop.example"))).toBe(false);
    expect(zone.hasDelegations).toBe(true);
  });

  test("uses the smaller of two times for negative caching", () => {
    const zone = compileZone(makeZone("a.example"));
    expect([zone.soa.ttl, zone.negativeSoa.ttl]).toEqual([3_600, 600]);
  });

  test.each([
    ["a name outside the zone", [set("b.example", "A", "192.0.2.1")], "not within"],
    ["a wrong value", [set("a.example", "A", "192.0.2.300")], 'a.example A: "192.0.2.300" is not an IPv4 address'],
    ["no value", [set("a.example", "A")], "at least one value"],
    ["an unknown type", [set("a.example", "LOC", "x")], "type LOC are not supported"],
    [
      "the same set twice",
      [set("a.example", "A", "192.0.2.1"), set("A.example.", "A", "192.0.2.2")],
      "already a record set",
    ],
    ["a CNAME at the apex", [set("a.example", "CNAME", "b.example")], "can't have other records"],
    [
      "a CNAME after others",
      [set("x.a.example", "A", "192.0.2.1"), set("x.a.example", "CNAME", "b")],
      "can't have other records",
    ],
    [
      "a CNAME before others",
      [set("x.a.example", "CNAME", "b"), set("x.a.example", "A", "192.0.2.1")],
      "can't have other records",
    ],
    ["a second SOA", [set("x.a.example", "SOA", "a. b. 1 2 3 4 5")], "can't be set"],
    ["a DS record of the zone itself", [set("a.example", "DS", `1 13 2 ${"00".repeat(32)}`)], "registrar"],
    ["name servers twice", [set("a.example", "NS", "ns.b.example")], "already a record set"],
    ["two CNAMEs", [set("x.a.example", "CNAME", "b.example", "c.example")], "only have one"],
    [
      "too large a record set",
      [set("a.example", "TXT", ...Array.from({ length: 9 }, (_, n) => `${n}${"x".repeat(8000)}`))],
      "too large",
    ],
  ])("with %s can't be served", (_, sets, reason) => {
    expect(() => compileZone(makeZone("a.example", sets))).toThrow(reason);
  });

  test("removes duplicate records that are written differently", () => {
    const zone = compileZone(makeZone("a.example", [set("a.example", "MX", "1 m.example", "1  M.example.")]));
    expect(zone.nodes.get(readName("a.example"))?.find(({ type }) => type === 15)?.records).toHaveLength(1);
  });
});

describe("all zones", () => {
  test("a name belongs to the lowest zone that contains it", () => {
    const zones = createZones(writtenZones(makeZone("a.example"), makeZone("b.a.example")), () => undefined);
    const apexOf = (name: string) => {
      const found = zones.find(readName(name));
      return found === null || found === "broken" ? found : found.apex;
    };
    expect(apexOf("x.b.a.example")).toBe(readName("b.a.example"));
    expect(apexOf("xb.a.example")).toBe(readName("a.example"));
    expect(apexOf("example")).toBeNull();
    expect(apexOf(".")).toBeNull();
  });

  test("a broken zone is reported once, when it is queried, and does not affect others", () => {
    const reported: string[] = [];
    const broken = makeZone("b.example", [set("b.example", "A", "nonsense")]);
    const zones = createZones(writtenZones(broken, makeZone("a.example"), makeZone("not a name")), (zone) =>
      reported.push(zone),
    );
    expect(reported).toEqual(["not a name"]);
    expect(zones.find(readName("b.example"))).toBe("broken");
    expect(zones.find(readName("x.b.example"))).toBe("broken");
    expect(zones.find(readName("a.example"))).toMatchObject({ serial: 1 });
    expect(reported).toEqual(["not a name", "b.example"]);
  });
});
