import { describe, expect, it } from "vitest";
import { newSecret, setupUri, stepOf } from "./totp.ts";

/** `12345678901234567890`, as in RFC 6238. */
const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

/** Appendix B of RFC 6238 for SHA-1: seconds, and the last six of the eight digits. */
const vectors = [
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
] as const;

describe("a code", () => {
  it.each(vectors)("at %d seconds is the one of RFC 6238", (seconds, code) => {
    expect(stepOf(secret, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
  });

  it.each(vectors)("of %d seconds is also accepted 30 seconds earlier and later, and then no more", (seconds, code) => {
    const step = Math.floor(seconds / 30);
    const at = (offset: number) => stepOf(secret, code, (seconds + offset) * 1000);
    expect([at(-30), at(30)]).toEqual([step, step]);
    expect([at(-60), at(60)]).toEqual([null, null]);
  });

  it.each(["", "28708", "2870820", "28708x", "２８７０８２", "287 082", "-87082"])("is not %j", (code) => {
    expect(stepOf(secret, code, 59_000)).toBe(null);
  });
});

describe("a secret", () => {
  it("has 160 random bits", () => {
    expect(newSecret()).toMatch(/^[A-Z2-7]{32}$/);
    expect(newSecret()).not.toBe(newSecret());
  });

  it("is in the address for the app, with the account", () => {
    const uri = new URL(setupUri(secret, "ada&co@example.com"));
    expect(uri.protocol).toBe("otpauth:");
    expect(decodeURIComponent(uri.pathname)).toContain("Sitewright:ada&co@example.com");
    expect(Object.fromEntries(uri.searchParams)).toMatchObject({
      secret,
      issuer: "Sitewright",
      digits: "6",
      period: "30",
    });
  });
});
