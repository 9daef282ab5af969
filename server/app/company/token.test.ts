import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isPossibleToken, isSameHash, makeToken, readToken } from "./token.ts";

describe("a generated token", () => {
  it("contains its id and 256 random bits, which are read as a hash", () => {
    const token = makeToken();
    const [, id = "", secret = ""] = /^sk_([0-9a-f]{32})_([A-Za-z0-9_-]{43})$/.exec(token) ?? [];
    const facts = readToken(token);
    expect(facts.id.replaceAll("-", "")).toBe(id);
    expect(facts.secretHash).toEqual(createHash("sha256").update(secret).digest());
    expect(Buffer.from(secret, "base64url")).toHaveLength(32);
  });

  it("is unique", () => {
    expect(new Set(Array.from({ length: 100 }, makeToken)).size).toBe(100);
  });
});

describe("a chosen token", () => {
  it("always gets the same id, which differs from other texts' ids", () => {
    const text = "automation-chose-this-key";
    expect(readToken(text)).toEqual(readToken(text));
    expect(readToken(text).id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(readToken(`${text}!`).id).not.toBe(readToken(text).id);
    expect(readToken(text).secretHash).not.toEqual(readToken(`${text}!`).secretHash);
  });

  it.each([
    ["x".repeat(16), true],
    ["sk_live_0123456789abcdef", true],
    ["x".repeat(200), true],
    ["x".repeat(15), false],
    ["x".repeat(201), false],
    ["has a space in it, sadly", false],
    ["tab\tinside-the-text", false],
    ["äöü-is-not-for-headers", false],
    ["", false],
  ])("%j: usable is %s", (text, expected) => {
    expect(isPossibleToken(text)).toBe(expected);
  });
});

describe("any text", () => {
  it.each(["", "\0", "sk_", "🦄".repeat(1_000), "sk_zz_zz", "x".repeat(100_000)])("can be read: %#", (text) => {
    expect(readToken(text).id).toMatch(/^[0-9a-f-]{36}$/);
    expect(readToken(text).secretHash).toHaveLength(32);
  });
});

describe("isSameHash", () => {
  it("compares the content, and accepts different lengths", () => {
    expect(isSameHash(Buffer.from("ab"), Buffer.from("ab"))).toBe(true);
    expect(isSameHash(Buffer.from("ab"), Buffer.from("ac"))).toBe(false);
    expect(isSameHash(Buffer.from("ab"), Buffer.from("abc"))).toBe(false);
  });
});
