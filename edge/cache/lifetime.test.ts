import { describe, expect, test } from "vitest";
import { lifetimeOf } from "./lifetime.ts";

const now = Date.parse("2026-11-23T12:00:00Z");
const hour = 3_600_000;
const of = (headers: Record<string, string>, status = 200) =>
  lifetimeOf({ status, headers: Object.entries({ "Content-Type": "text/html", ...headers }) }, now);

test("a page is fresh for an hour, served while it is refreshed for ten, and served if PHP fails for a day", () => {
  expect(of({})).toEqual({ fresh: hour, stale: 10 * hour, lastResort: 24 * hour, variesByLanguage: false });
});

test("a feed has a shorter lifetime", () => {
  for (const type of ["application/rss+xml", "application/atom+xml", "text/xml", "application/xml; charset=UTF-8"]) {
    expect(of({ "Content-Type": type })?.fresh).toBe(hour / 6);
  }
});

describe("respects an explicit lifetime", () => {
  test.each([
    ["max-age=60", 60],
    ["public, max-age=60", 60],
    ["max-age=60, s-maxage=30", 30],
    ['S-MaxAge="30"', 30],
    ["max-age=999999999", 86_400],
  ])("%s", (control, seconds) => {
    const lifetime = of({ "Cache-Control": control });
    expect([lifetime?.fresh, lifetime?.stale]).toEqual([seconds * 1_000, seconds * 1_000]);
    expect(lifetime?.lastResort).toBeGreaterThanOrEqual(seconds * 1_000);
  });

  test("given as a date", () => {
    expect(of({ Expires: "Mon, 23 Nov 2026 12:01:00 GMT" })?.fresh).toBe(60_000);
  });
});

describe("does not cache a response that", () => {
  test.each<[Record<string, string>]>([
    [{ "Cache-Control": "private" }],
    [{ "Cache-Control": "max-age=60, No-Store" }],
    [{ "cache-control": "no-cache" }],
    [{ "Cache-Control": "max-age=0" }],
    [{ "Cache-Control": "s-maxage=0, max-age=60" }],
    [{ "Cache-Control": "must-revalidate" }],
    [{ Expires: "0" }],
    [{ Expires: "Wed, 11 Jan 1984 05:00:00 GMT" }],
    [{ Pragma: "no-cache" }],
    [{ "Set-Cookie": "a=b" }],
    [{ "set-cookie": "a=b" }],
    [{ "WWW-Authenticate": "Basic" }],
    [{ "Content-Range": "bytes 0-1/2" }],
    [{ Refresh: "5" }],
    [{ Vary: "*" }],
    [{ Vary: "Accept-Encoding, X-Country" }],
    [{ "Content-Type": "application/json" }],
    [{ "Content-Type": "image/png" }],
    [{ "Content-Type": "" }],
  ])("has %j", (headers) => {
    expect(of(headers)).toBeNull();
  });

  test.each([201, 204, 206, 301, 304, 404, 500])("has the status %i", (status) => {
    expect(of({}, status)).toBeNull();
  });
});

test("caches responses that vary only by headers that are fixed or part of the key", () => {
  expect(of({ Vary: "Accept-Encoding, Cookie, User-Agent, Accept" })?.variesByLanguage).toBe(false);
  expect(of({ Vary: "accept-language, Accept-Encoding" })?.variesByLanguage).toBe(true);
});
