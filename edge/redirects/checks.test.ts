import { expect, test } from "vitest";
import { ruleOf } from "../testing/redirectRule.ts";
import { checkFrom } from "./from.ts";
import { findLoop } from "./loops.ts";
import { createRedirects } from "./redirects.ts";
import type { RedirectRule } from "./rule.ts";
import { checkTo } from "./to.ts";

test.each([
  "",
  "(",
  "^/[a",
  "/a(?=b)",
  "(a)\\1",
  "^/(a{1000}){1000}$",
  "(((a{30}){30}){30})",
  "/a\r\nb",
  "/\0",
  "/index.php?p=1",
  "a".repeat(1_001),
  "*",
  "^/index\\.php?p=1$",
])("%j is an invalid from", (from) => {
  expect(() => checkFrom(from)).toThrow(/^must /);
});

const reasons = {
  query: "a query",
  host: "a host name",
  start: "without a slash",
  escapes: "escapes",
  none: "at least",
};

test.each([
  ["^/index\\.php\\?p=(\\d+)$", "query"],
  ["^/\\?p=12$", "query"],
  ["\\?utm_source=", "query"],
  ["/page[?]id=\\d+", "query"],
  ["^/a\\x3fb$", "query"],
  ["^/a\\x{3F}b$", "query"],
  ["^/(?:a\\?b|c\\?d)$", "query"],
  ["^/\\Q?\\Ea", "query"],
  ["^/a(\\?b)+$", "query"],
  ["^https?://example\\.com/old$", "host"],
  ["https://example.com/(.*)", "host"],
  ["^//a", "host"],
  ["^old-page$", "start"],
  ["^blog/(.*)$", "start"],
  ["^[a-z]+$", "start"],
  ["^$", "none"],
  ["(?i)^OLD$", "start"],
  ["(?m)^old$", "start"],
  ["^/caf%C3%A9/(.*)$", "escapes"],
  ["^/a(%20|%2B)b$", "escapes"],
  ["^/a$b", "none"],
  ["a^", "none"],
  ["^/a[^\\s\\S]", "none"],
] as const)("%s is refused, because no path matches it: %s", (from, reason) => {
  expect(() => checkFrom(from)).toThrow(reasons[reason]);
});

test.each([
  "^/a(\\?.*)?$",
  "^/a(?:/|\\?b)c",
  "^/colou?r$",
  "^/a/?$",
  "^/a[?/]b",
  "^/a/{1,2}b",
  "^(?:old|/new)$",
  "^.*$",
  "^",
  "$",
  "^(.+)\\.html$",
  "old-page",
  "100%",
  "^/100%-off",
  "^/[^/]+%?20$",
  "(?i)^/K$",
  "^/\\S+$",
  "^/caf\u00e9$",
  "/+a",
  "\\bold\\b",
])("%s is an expression that may match a path", (from) => {
  expect(checkFrom(from)).toBeGreaterThanOrEqual(0);
});

test.each([
  ["/old", 0],
  ["^/old/(.*)$", 1],
  ["^/(a)(?:b)(?P<name>c)$", 2],
  ["^/(a+)+$", 1],
])("%s has %i groups", (from, groups) => expect(checkFrom(from)).toBe(groups));

test.each([
  "",
  "new",
  "//evil.example",
  "/\\evil.example",
  "javascript:alert(1)",
  "JaVaScRiPt://x/%0aalert(1)",
  "data:text/html,x",
  "ftp://a.example/",
  "https://",
  "https:///path",
  "https://$1/",
  "https://user@a.example/",
  "https://a b/",
  "/a b",
  "/a\r\nSet-Cookie: a=b",
  "/a\0",
  "/$2",
  `/${"a".repeat(2_000)}`,
])("%j is an invalid to", (to) => expect(() => checkTo(to, 1)).toThrow(/^must /));

test.each(["/", "/new", "/new/$1?a=$0#b", "https://a.example", "http://a.example:81$1", "/ä", "/price$"])(
  "%j is a valid to",
  (to) => expect(() => checkTo(to, 1)).not.toThrow(),
);

type Pair = readonly [from: string, to: string, more?: Partial<RedirectRule>];

function loopOf(...pairs: readonly Pair[]): string | null {
  const rules = pairs.map(([from, to, more]) => ruleOf(from, to, more));
  const redirects = createRedirects(rules);
  for (const rule of rules) {
    const closing = findLoop(rule, redirects, ["a.example", "b.example"]);
    if (closing !== null) return closing.from;
  }
  return null;
}

const de = { country: "DE" };
test.each<[string, ...Pair[]]>([
  ["of one path", ["/a", "/a"]],
  ["of a path and its trailing slash", ["/a", "/a/"]],
  ["of a path and its query", ["/a", "/a?b=1"]],
  ["of two rules", ["/a", "/b"], ["/b", "/a"]],
  ["of five rules", ["/a", "/b"], ["/b", "/c"], ["/c", "/d"], ["/d", "/e"], ["/e", "/a"]],
  ["through an expression", ["/a", "/x/1"], ["^/x/(.*)$", "/a"]],
  ["of one expression", ["^/blog/(.*)$", "/blog/$1"]],
  ["of digits", ["^/(\\d+)$", "/$1"]],
  ["that never ends", ["^/(.*)$", "/new/$1"]],
  [
    "of two domains",
    ["/a", "http://b.example/a", { domain: "a.example" }],
    ["/a", "http://a.example/a", { domain: "b.example" }],
  ],
  ["of visitors from one country", ["/a", "/b", de], ["/b", "/a", de]],
  ["of an encoded path", ["/ä", "/%C3%A4"]],
])("finds a loop %s", (_, ...pairs) => expect(loopOf(...pairs)).not.toBeNull());

test.each<[string, ...Pair[]]>([
  ["a chain", ["/a", "/b"], ["/b", "/c"]],
  ["the same path on another host", ["^(.*)$", "https://c.example$1"]],
  ["forcing https", ["^(.*)$", "https://a.example$1", { domain: "a.example" }]],
  ["one domain to another", ["^(.*)$", "https://b.example$1", { domain: "a.example" }]],
  ["visitors from different countries", ["/a", "/b", de], ["/b", "/a", { country: "FR" }]],
  ["an expression that does not match its target", ["^/(\\d+)$", "/p/$1"]],
])("%s is not a loop", (_, ...pairs) => expect(loopOf(...pairs)).toBeNull());
