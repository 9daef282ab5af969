import { expect, test } from "vitest";
import { encodePath, readPath, splitTarget } from "./path.ts";

const malformed = [
  "",
  "*",
  "index.php",
  "/..",
  "/../etc/passwd",
  "/a/../b",
  "/a/./b",
  "/.",
  "/%2e%2e/etc/passwd",
  "/%2E%2e/etc/passwd",
  "/.%2e/etc/passwd",
  "/..%2fetc/passwd",
  "/a%2f..%2fb",
  "/%252e%252e/etc/passwd",
  "/%252e%252e%252fetc/passwd",
  "/..%252fetc",
  "/%25%32%65%25%32%65/etc",
  "/a\\b",
  "/..\\b",
  "/a%5cb",
  "/a%255cb",
  "/%00",
  "/index.php%00.txt",
  "/index.php%2500.txt",
  "/a%0ab",
  "/a%0d%0aSet-Cookie:x",
  "/a%7f",
  "/a%",
  "/a%2",
  "/a%zz",
  "/100%-wool",
  "/a#b",
];

test.each(malformed)("%j is malformed", (url) => {
  expect(readPath(url)).toBeNull();
});

const readable: readonly (readonly [url: string, segments: readonly string[], trailingSlash: boolean])[] = [
  ["/", [], true],
  ["/a", ["a"], false],
  ["/a/", ["a"], true],
  ["//a///b//", ["a", "b"], true],
  ["/a%20b", ["a b"], false],
  ["/a%2fb", ["a", "b"], false],
  ["/%2ephp", [".php"], false],
  ["/index%2ephp", ["index.php"], false],
  ["/100%25-wool", ["100%-wool"], false],
  ["/%25zz", ["%zz"], false],
  ["/...", ["..."], false],
  ["/a..b", ["a..b"], false],
  ["/%C3%BC", ["ü"], false],
  ["/\u00c3\u00bc", ["ü"], false],
  ["/[a]|{b}", ["[a]|{b}"], false],
  ["/?a=../..&b=%00", [], true],
];

test.each(readable)("%s has the segments %j", (url, segments, trailingSlash) => {
  expect(readPath(url)).toMatchObject({ segments, trailingSlash, url, isUtf8: true });
});

test("a path that is not UTF-8 is accepted but marked", () => {
  expect(readPath("/caf%E9/")).toMatchObject({ segments: ["café"], isUtf8: false });
});

test("the query is returned as sent", () => {
  expect(readPath("/a?b=%2F..&c")).toMatchObject({ query: "?b=%2F..&c", segments: ["a"] });
});

test("an encoded path has a single leading slash", () => {
  expect(encodePath(["evil.example", "ü?#"])).toBe("/evil.example/%C3%BC%3F%23");
});

test.each([
  ["/a?b", null, "/a?b"],
  ["http://site.localhost:8081/a?b", "site.localhost:8081", "/a?b"],
  ["HTTPS://site.localhost", "site.localhost", "/"],
  ["http://site.localhost?a", "site.localhost", "/?a"],
  ["http:///a", "", "/a"],
  ["//other.example/a", null, "//other.example/a"],
  ["ftp://site.localhost/", null, "ftp://site.localhost/"],
])("the target %s has host %s and URL %s", (target, host, url) => {
  expect(splitTarget(target)).toEqual({ host, url });
});
