import { describe, expect, test } from "vitest";
import {
  isApex,
  isPublicName,
  isWithinDomain,
  NotADomainName,
  namesAbove,
  readDomainName,
  reservedReason,
} from "./names.ts";

describe("readDomainName normalises", () => {
  test.each([
    ["example.com", "example.com", "example.com"],
    ["Example.COM", "example.com", "example.com"],
    ["example.com.", "example.com", "example.com"],
    ["shop.example.co.uk", "shop.example.co.uk", "example.co.uk"],
    ["bücher.example", "xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["BÜCHER.example", "xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["例え.テスト", "xn--r8jz45g.xn--zckzah", "xn--r8jz45g.xn--zckzah"],
    ["例え。テスト", "xn--r8jz45g.xn--zckzah", "xn--r8jz45g.xn--zckzah"],
    ["faß.example", "xn--fa-hia.example", "xn--fa-hia.example"],
    ["a.b.c.example.com", "a.b.c.example.com", "example.com"],
    ["ada.github.io", "ada.github.io", "ada.github.io"],
    ["1and1.com", "1and1.com", "1and1.com"],
    [`${"a".repeat(63)}.example.com`, `${"a".repeat(63)}.example.com`, "example.com"],
  ])("%s to %s", (text, name, registrable) => {
    expect(readDomainName(text)).toEqual({ name, registrable });
  });
});

describe("readDomainName rejects, with a reason,", () => {
  test.each([
    ["203.0.113.7", "is an IP address"],
    ["203.0.113.7:80", "is an IP address"],
    ["2001:db8::7", "is an IP address"],
    ["[2001:db8::7]", "is an IP address"],
    ["[2001:db8::7]:443", "is an IP address"],
    ["0x7f.1", "is an IP address"],
    ["2130706433", "is an IP address"],
    ["https://example.com", "has a scheme"],
    ["https://example.com/path", "has a scheme"],
    ["ada@example.com", "is an e-mail address"],
    ["example.com/shop", "has a path"],
    ["example.com?x", "has a path"],
    ["example.com#x", "has a path"],
    ["example.com\\shop", "has a path"],
    ["example.com:8443", "has a port"],
    ["example.com:", "has a port"],
    ["*.example.com", "is a wildcard"],
    ["*", "is a wildcard"],
    ["_dmarc.example.com", "has an underscore"],
    ["my_shop.example.com", "has an underscore"],
    [" example.com", "has a space"],
    ["example .com", "has a space"],
    ["example.com\n", "has a space"],
    ["localhost", "has only one part"],
    ["com", "has only one part"],
    ["com.", "has only one part"],
    ["co.uk", "is a public suffix"],
    ["github.io", "is a public suffix"],
    ["-shop.example.com", "is not a host name"],
    ["shop-.example.com", "is not a host name"],
    ["shop..example.com", "is not a host name"],
    [".example.com", "is not a host name"],
    ["example.com..", "is not a host name"],
    ["sho%70.example.com", "has a percent sign"],
    ["shop!.example.com", "is not a host name"],
    ["a\u0000b.example.com", "is not"],
    ["xn--a.example", "can't be decoded"],
    ["shop.xn--.example", "no hyphen at either end"],
    [`${"a".repeat(64)}.example.com`, "is too long"],
    [`${"a.".repeat(130)}com`, "is too long"],
    [`${"ü".repeat(60)}.example.com`, "is too long"],
    ["x".repeat(1_000), "is too long"],
  ])("%j: %s", (text, reason) => {
    expect(() => readDomainName(text)).toThrow(NotADomainName);
    expect(() => readDomainName(text)).toThrow(reason);
    expect(() => readDomainName(text)).toThrow(/\.$/);
  });

  test("a very long name without repeating all of it", () => {
    const reading = () => readDomainName("x".repeat(1_000));
    expect(reading).toThrow(/^"x{100}…" is too long/);
  });
});

test.each([
  ["example.com", true],
  ["example.co.uk", true],
  ["www.example.com", false],
  ["www.example.co.uk", false],
])("%s is a registrable domain: %s", (text, expected) => {
  expect(isApex(readDomainName(text))).toBe(expected);
});

describe("the installation reserves", () => {
  const suffix = "sites.example.com";
  test.each([
    ["sites.example.com", false, "is below"],
    ["demo.sites.example.com", false, "is below"],
    ["a.demo.sites.example.com", true, "is below"],
    ["example.com", true, "would cover"],
    ["api.example.net", false, "installation's API"],
    ["v2.api.example.net", false, "installation's API"],
    ["example.net", true, "would cover api.example.net"],
  ])("%s (wildcard: %s): %s", (name, isWildcard, reason) => {
    expect(reservedReason(name, isWildcard, { suffix, apiName: "api.example.net" })).toContain(reason);
  });

  test.each([
    ["example.com", false],
    ["othersites.example.com", true],
    ["shop.example.com", true],
    ["example.net", false],
    ["otherapi.example.net", true],
  ])("not %s (wildcard: %s)", (name, isWildcard) => {
    expect(reservedReason(name, isWildcard, { suffix, apiName: "api.example.net" })).toBeNull();
  });
});

test("namesAbove returns the names whose wildcard could cover the name", () => {
  expect(namesAbove("a.b.example.com")).toEqual(["b.example.com", "example.com", "com"]);
  expect(namesAbove("com")).toEqual([]);
});

test.each([
  ["ghs.google.com", true],
  ["google.com", true],
  ["_x.acm-validations.aws", true],
  ["shop.co.uk", true],
  ["a.github.io", true],
  ["www.dev", false],
  ["mail.de", false],
  ["mail.corp.internal", false],
  ["co.uk", false],
  ["com", false],
  ["", false],
])("%j reads like a whole name in public DNS: %s", (name, isPublic) => {
  expect(isPublicName(name)).toBe(isPublic);
});

test("a name is within its own domain and the ones above", () => {
  const names = ["shop.example.com", "a.shop.example.com", "xshop.example.com", "example.com"];
  expect(names.map((name) => isWithinDomain(name, "shop.example.com"))).toEqual([true, true, false, false]);
});
