import { describe, expect, test } from "vitest";
import { type ZoneDomain, zoneNamesOf } from "./zoneNames.ts";

const domain = (companyId: string, name: string, state: "proven" | "added" | "unproven"): ZoneDomain => ({
  companyId,
  name,
  isProven: state === "proven",
  isUnproven: state === "unproven",
});

/** Which of the companies' records of that name and type are served. */
function served(domains: readonly ZoneDomain[], name: string, type = "A"): string[] {
  const names = zoneNamesOf(domains);
  return ["v", "a"].filter((companyId) => names.serves(companyId, { name, type }));
}

describe("records are those of the company with the longest name", () => {
  const domains = [domain("v", "x.example", "proven"), domain("a", "b.x.example", "proven")];
  test.each([
    ["x.example", ["v"]],
    ["*.x.example", ["v"]],
    ["_sitewright-verify.x.example", ["v"]],
    ["b.x.example", ["a"]],
    ["*.b.x.example", ["a"]],
    ["c.b.x.example", ["a"]],
    ["ab.x.example", ["v"]],
    ["example", []],
  ])("%s: %o", (name, companies) => {
    expect(served(domains, name)).toEqual(companies);
  });
});

describe("a domain does not count", () => {
  test("while it is unproven", () => {
    const domains = [domain("v", "x.example", "added"), domain("a", "b.x.example", "unproven")];
    expect(served(domains, "b.x.example")).toEqual(["v"]);
    expect(zoneNamesOf([domain("a", "x.example", "unproven")]).isServed).toBe(false);
  });

  test("if only another company has proven a name above, whoever was first", () => {
    const domains = [domain("a", "b.x.example", "added"), domain("v", "x.example", "proven")];
    expect(served(domains, "b.x.example")).toEqual(["v"]);
    expect(served([domain("a", "b.x.example", "added"), domain("v", "x.example", "added")], "b.x.example")).toEqual([
      "a",
    ]);
  });
});

describe("a delegation is left out", () => {
  test("above another company's domain, but not above the company's own", () => {
    const own = [domain("v", "x.example", "proven"), domain("v", "a.own.x.example", "added")];
    const domains = [...own, domain("a", "a.shop.x.example", "proven")];
    expect(served(domains, "shop.x.example", "NS")).toEqual([]);
    expect(served(domains, "shop.x.example", "TXT")).toEqual(["v"]);
    expect(served(domains, "own.x.example", "NS")).toEqual(["v"]);
  });

  test("but not above one that does not count", () => {
    const domains = [domain("v", "x.example", "proven"), domain("a", "a.shop.x.example", "unproven")];
    expect(served(domains, "shop.x.example", "NS")).toEqual(["v"]);
  });
});

describe("records that are left of a removed domain", () => {
  test("are served while the zone has no other company's domains", () => {
    expect(served([domain("v", "b.x.example", "added")], "old.x.example")).toEqual(["v"]);
    const domains = [domain("v", "b.x.example", "added"), domain("a", "c.x.example", "added")];
    expect(served(domains, "old.x.example")).toEqual([]);
  });

  test("are not served below an unproven domain", () => {
    const domains = [domain("v", "b.x.example", "added"), domain("v", "old.x.example", "unproven")];
    expect(served(domains, "a.old.x.example")).toEqual([]);
  });
});
