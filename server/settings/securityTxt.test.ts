import { afterEach, expect, test, vi } from "vitest";
import { loadConfig } from "./config.ts";
import { securityTxtOf } from "./securityTxt.ts";

afterEach(() => void vi.useRealTimers());

test("security.txt has the contact, and expires weeks after each request", () => {
  vi.useFakeTimers({ now: new Date("2026-11-26T12:00:00Z") });
  expect(securityTxtOf("mailto:security@example.com")?.()).toBe(
    "Contact: mailto:security@example.com\nExpires: 2026-12-27T00:00:00.000Z\n",
  );
  expect(securityTxtOf(null)).toBeNull();
});

test.each(["security@example.com", "http://example.com", "mailto:a@b.example\nCanonical: x"])(
  "the contact %j is refused",
  (contact) => {
    expect(() => loadConfig({ SITEWRIGHT_SECURITY_CONTACT: contact })).toThrow("SITEWRIGHT_SECURITY_CONTACT");
  },
);
