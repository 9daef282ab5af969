import { expect, test } from "vitest";
import { makePage, type PageName } from "./pages.ts";

const names: readonly PageName[] = [
  "unknownHost",
  "notFound",
  "badRequest",
  "methodNotAllowed",
  "tooLarge",
  "diskFull",
  "busy",
  "unavailable",
  "starting",
  "away",
  "frozen",
  "deadline",
  "crashed",
  "broken",
];

test.each(names)("the page %s needs no other files, is never cached, and says what to do next", (name) => {
  const page = makePage({ headers: { accept: "text/html" } }, name);
  expect(page.body).toMatch(/^<!doctype html>\n<html lang="en">/);
  expect(page.body).toContain("Please");
  expect(page.body).not.toMatch(/https?:|<script|<img|<link|url\(/);
  expect(page.headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-length": Buffer.byteLength(page.body),
    "cache-control": "no-store",
    "x-robots-tag": "noindex",
    "x-content-type-options": "nosniff",
  });
});

test("the page of an address without a site says where to find the address of the API", () => {
  expect(makePage({ headers: {} }, "unknownHost").body).toContain("which Sitewright prints at startup");
});

test.each([
  [undefined, "text/html"],
  ["", "text/html"],
  ["*/*", "text/html"],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"],
  ["application/json", "application/json"],
  ["application/json, */*;q=0.1", "application/json"],
  ["application/vnd.api+json", "application/json"],
  ["text/html, application/json", "text/html"],
  ["image/avif,image/webp", "text/plain"],
  ["text/css", "text/plain"],
])("a visitor who accepts %j gets %s", (accept, type) => {
  const page = makePage({ headers: accept === undefined ? {} : { accept } }, "busy");
  expect(page.headers["content-type"]).toBe(`${type}; charset=utf-8`);
});

test("as JSON it has the format of WordPress's REST errors", () => {
  const page = makePage({ headers: { accept: "application/json" } }, "busy");
  expect(JSON.parse(page.body)).toEqual({
    code: "site_busy",
    message: expect.stringContaining("Please try again"),
    data: { status: 503 },
  });
});
