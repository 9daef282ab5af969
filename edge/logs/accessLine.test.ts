import { expect, test } from "vitest";
import { type AccessFacts, accessLine } from "./accessLine.ts";

const facts: AccessFacts = {
  address: "203.0.113.7",
  fromPhp: false,
  at: new Date("2026-11-02T04:05:06.789Z"),
  method: "GET",
  url: "/?p=1",
  httpVersion: "1.1",
  status: 200,
  bytes: 5_123,
  referrer: undefined,
  userAgent: "Mozilla/5.0 (X11)",
  milliseconds: 12.4,
  host: "shop.example.com:8081",
};

test("a request is one line in the combined format, followed by duration and host", () => {
  expect(accessLine(facts)).toBe(
    '203.0.113.7 - - [02/Nov/2026:04:05:06 +0000] "GET /?p=1 HTTP/1.1" 200 5123 "-" "Mozilla/5.0 (X11)" 12 "shop.example.com:8081"',
  );
});

test("a request from PHP is marked", () => {
  expect(accessLine({ ...facts, address: "127.0.0.1", fromPhp: true })).toMatch(/^127\.0\.0\.1 - php \[/);
});

test("the time follows the clock", () => {
  const at = (text: string) => /\[(.*?)\]/.exec(accessLine({ ...facts, at: new Date(text) }))?.[1];
  expect(at("2026-12-31T23:59:59.999Z")).toBe("31/Dec/2026:23:59:59 +0000");
  expect(at("2027-01-01T00:00:00Z")).toBe("01/Jan/2027:00:00:00 +0000");
});

test("visitors can't inject lines or quotes", () => {
  const hostile = 'x" 200 1 "-"\r\n127.0.0.1 - - \u001b[2J\\\u00e9\u0000';
  const line = accessLine({ ...facts, url: `/?a=${hostile}`, userAgent: hostile, referrer: hostile });
  const written = String.raw`x\x22 200 1 \x22-\x22\x0d\x0a127.0.0.1 - - \x1b[2J\x5c\xe9\x00`;
  expect(line).toContain(`"GET /?a=${written} HTTP/1.1" 200 5123 "${written}" "${written}" 12`);
  expect(line).toMatch(/^[\x20-\x7e]*$/);
});

test("long values are truncated", () => {
  const long = "a".repeat(30_000);
  const line = accessLine({ ...facts, url: `/${long}`, userAgent: long, referrer: long });
  expect(line.length).toBeLessThan(7_000);
  expect(line).toMatch(
    /^203\.0\.113\.7 - - \[.*\] "GET \/a+\.\.\. HTTP\/1\.1" 200 5123 "a+\.\.\." "a+\.\.\." 12 "shop/,
  );
});

test("secrets in the URL and in the referrer are masked", () => {
  const line = accessLine({ ...facts, url: "/?token=abc", referrer: "http://a.example/?key=def" });
  expect(line).toContain('"GET /?token=*** HTTP/1.1"');
  expect(line).toContain('"http://a.example/?key=***"');
});
