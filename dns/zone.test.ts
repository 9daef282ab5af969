import { describe, expect, test } from "vitest";
import { readName } from "./names.ts";
import { makeZone, set, shop, writtenZones } from "./testing/zones.ts";
import { compileZone } from "./zone.ts";
import { createZones } from "./zones.ts";

describe("a zone", () => {
  test("has the names between two others, which own nothing", () => {
    const zone = compileZone(shop);
    expect(zone.nodes.get(readName("below.shop.example"))).toEqual([]);
    expect(zone.nodes.get(readName("_tcp.shop.example"))).toEqual([]);
    expect(zone.nodes.has(readName("nothing.shop.example"))).toBe(false);
    expect(zone.hasCuts).toBe(true);
  });

  test("that there is nothing may be remembered for the shorter of two times", () => {
    const zone = compileZone(makeZone("a.example"));
    expect([zone.soa.ttl, zone.negativeSoa.ttl]).toEqual([3_600, 600]);
  });

  test.each([
    ["a name elsewhere", [set("b.example", "A", "192.0.2.1")], "not within"],
    ["a wrong value", [set("a.example", "A", "192.0.2.300")], 'a.example A: "192.0.2.300" is not an IPv4 address'],
    ["no value", [set("a.example", "A")], "at least one value"],
    ["an unknown type", [set("a.example", "LOC", "x")], "no records of type LOC"],
    ["the same set twice", [set("a.example", "A", "192.0.2.1"), set("A.example.", "A", "192.0.2.2")], "two such"],
    ["a CNAME at the top", [set("a.example", "CNAME", "b.example")], "stands alone"],
    ["a CNAME behind others", [set("x.a.example", "A", "192.0.2.1"), set("x.a.example", "CNAME", "b")], "stands alone"],
    ["a CNAME before others", [set("x.a.example", "CNAME", "b"), set("x.a.example", "A", "192.0.2.1")], "stands alone"],
    ["a second SOA", [set("x.a.example", "SOA", "a. b. 1 2 3 4 5")], "the zone's own"],
    ["name servers twice", [set("a.example", "NS", "ns.b.example")], "two such"],
    ["two CNAMEs", [set("x.a.example", "CNAME", "b.example", "c.example")], "exactly one"],
    [
      "too much",
      [set("a.example", "TXT", ...Array.from({ length: 9 }, (_, n) => `${n}${"x".repeat(8000)}`))],
      "too many",
    ],
  ])("with %s can't be served", (_, sets, reason) => {
    expect(() => compileZone(makeZone("a.example", sets))).toThrow(reason);
  });

  test("the same record in two ways is one record", () => {
    const zone = compileZone(makeZone("a.example", [set("a.example", "MX", "1 m.example", "1  M.example.")]));
    expect(zone.nodes.get(readName("a.example"))?.find(({ type }) => type === 15)?.records).toHaveLength(1);
  });
});

describe("all zones", () => {
  test("a name is in the lowest zone that it is in or below", () => {
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

  test("one that can't be served is reported once, when it is asked for, and costs no other", () => {
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
