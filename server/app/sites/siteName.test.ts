import { describe, expect, it } from "vitest";
import { numberedNames, slugOf } from "./siteName.ts";

const label = /^[a-z0-9](?:[a-z0-9-]{0,28}[a-z0-9])?$/;

describe("slugOf", () => {
  it.each([
    ["Demo", "demo"],
    ["My First Site", "my-first-site"],
    ["Ünïcödé Straße", "uenicoede-strasse"],
    ["fooBar", "foobar"],
    ["  spaces  ", "spaces"],
    ["--- dashes ---", "dashes"],
    ["a/b\\c.d", "a-b-c-d"],
    ["日本語", "site"],
    ["👩‍👩‍👧‍👦", "site"],
    ["\u202e\u202e", "site"],
    ["'; DROP TABLE sites; --", "drop-table-sites"],
    ["x".repeat(100), "x".repeat(30)],
    [`${"x".repeat(29)} y`, "x".repeat(29)],
    ["2026", "2026"],
  ])("%j becomes %s", (text, slug) => {
    expect(slugOf(text)).toBe(slug);
  });

  it("always returns a DNS label of at most 30 characters", () => {
    for (let code = 1; code < 0x3000; code += 1) {
      expect(slugOf(`a${String.fromCodePoint(code)}b`)).toMatch(label);
      expect(slugOf(String.fromCodePoint(code))).toMatch(label);
    }
  });
});

describe("numberedNames", () => {
  it("returns the slug itself, then the slug with numbers", () => {
    expect(numberedNames("demo", 1, 3)).toEqual(["demo", "demo-2", "demo-3"]);
    expect(numberedNames("demo", 21, 22)).toEqual(["demo-21", "demo-22"]);
  });

  it("keeps names within 30 characters, without two hyphens in a row where the slug is cut", () => {
    const names = numberedNames(`${"x".repeat(27)}-yz`, 1, 12);
    expect(names.every((name) => label.test(name))).toBe(true);
    expect(names[1]).toBe(`${"x".repeat(27)}-2`);
    expect(new Set(names).size).toBe(12);
  });
});
