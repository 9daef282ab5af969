import { describe, expect, test } from "vitest";
import { isWithin, parentOf, readName, readOwner, root, wildcardBelow, writeName } from "./names.ts";

describe("names", () => {
  test.each([
    ["example.com", "example.com."],
    ["Example.COM.", "example.com."],
    ["_dmarc.xn--bcher-kva.example", "_dmarc.xn--bcher-kva.example."],
    [".", "."],
  ])("%s is written %s", (written, shown) => {
    expect(writeName(readName(written))).toBe(shown);
  });

  test.each([
    "",
    "..",
    "a..b",
    ".a",
    "a b",
    "ä.example",
    "\u212a.example",
    "a/b.example",
    "*.example",
    `${"a".repeat(64)}.example`,
    `${"abcdefghi.".repeat(26)}com`,
    "a\0b",
  ])("%j is not a name", (written) => {
    expect(() => readName(written)).toThrow("domain name");
  });

  test("only the first label of an owner may be a wildcard, and it counts towards the length", () => {
    expect(readOwner("*.example.com")).toBe(wildcardBelow(readName("example.com")));
    for (const wrong of ["*", "a.*.example.com", "*a.example.com", "*.*.example.com"]) {
      expect(() => readOwner(wrong)).toThrow("domain name");
    }
    const longest = `${"abcdefg.".repeat(31)}abcde`;
    expect(readName(longest).length).toBe(254);
    expect(() => readOwner(`*.${longest}`)).toThrow("too long");
  });

  test("labels are compared as a whole, whatever bytes they contain", () => {
    const top = readName("example.com");
    expect(isWithin(readName("www.example.com"), top)).toBe(true);
    expect(isWithin(top, top)).toBe(true);
    expect(isWithin(readName("com"), top)).toBe(false);
    expect(isWithin(readName("badexample.com"), top)).toBe(false);
    // One label that looks like two.
    expect(isWithin(`\u000cxexample\u0003com`, top)).toBe(false);
    expect(parentOf(readName("com"))).toBe(root);
  });

  test("special bytes are written as numbers", () => {
    expect(writeName("\u0003a.b\u0001\u00ff")).toBe("a\\046b.\\255.");
  });
});
