import { describe, expect, test } from "vitest";
import { ruleOf } from "../testing/redirectRule.ts";
import { createRedirects, leadsToItself } from "./redirects.ts";
import { nowhere, type RedirectRule, type RequestedUrl, type VisitorLocation } from "./rule.ts";

function asked(path: string, more: Partial<RequestedUrl> & { readonly at?: VisitorLocation } = {}): RequestedUrl {
  const { at = nowhere, ...rest } = more;
  return { scheme: "http", host: "a.example", path, query: "", place: () => at, ...rest };
}

const locationOf = (rules: readonly RedirectRule[], ...what: Parameters<typeof asked>) =>
  createRedirects(rules).find(asked(...what))?.location ?? null;

test.each([
  ["/old", "/old", "/new"],
  ["/old", "/old/", "/new"],
  ["/old/", "/old", "/new"],
  ["/old.html", "/old.html", "/new"],
  ["/caf%C3%A9", "/café", "/new"],
  ["/café", "/café", "/new"],
  ["/", "/", "/new"],
])("the path %s fits %s", (from, path, location) => expect(locationOf([ruleOf(from, "/new")], path)).toBe(location));

test.each([
  ["/old", "/older"],
  ["/old", "/x/old"],
  ["/old", "/OLD"],
  ["/old.html", "/oldxhtml"],
  ["^/old$", "/old/"],
  ["^/old/(\\d+)$", "/old/x"],
])("%s does not fit %s", (from, path) => expect(locationOf([ruleOf(from, "/new")], path)).toBeNull());

test.each([
  ["^/blog/(.*)$", "/news/$1", "/blog/a/b", "/news/a/b"],
  ["^/(\\d{4})/(\\d\\d)/(.+?)/?$", "/$3-$2-$1", "/2020/05/spring/", "/spring-05-2020"],
  ["^(.*)$", "https://b.example$1", "/a", "https://b.example/a"],
  ["(?i)^/OLD$", "/new", "/old", "/new"],
  ["shop|store", "/new", "/the-store", "/new"],
  ["^/a(b)?$", "/x$1y", "/a", "/xy"],
  ["/product-([a-z]+)", "/p/$1", "/shop/product-tea", "/p/tea"],
])("%s leads with %s from %s to %s", (from, to, path, location) =>
  expect(locationOf([ruleOf(from, to)], path)).toBe(location),
);

describe("what a visitor asks for", () => {
  test.each([
    ["^/go(/.*)$", "/$1", "/go//evil.example", "/evil.example"],
    ["^/go/(.*)$", "https://b.example$1", "/go/@evil.example", "https://b.example/@evil.example"],
    ["^/go/(.*)$", "https://b.example$1", "/go/.evil.example", "https://b.example/.evil.example"],
    ["^/go/(.*)$", "/x/$1", "/go/a?b#c d", "/x/a%3Fb%23c%20d"],
    ["(?s)^/go/(.*)$", "/x/$1", "/go/a\r\nSet-Cookie: b=1", "/x/a%0D%0ASet-Cookie:%20b=1"],
    ["^/go/(.*)$", "/x/$1", "/go/\ud800", "/x/%EF%BF%BD"],
  ])("becomes a path and nothing else: %s, %s, %j", (from, to, path, location) =>
    expect(locationOf([ruleOf(from, to)], path)).toBe(location),
  );

  test.each([
    ["/new", "?a=1&b", "/new?a=1&b"],
    ["/new?c=2", "?a=1", "/new?c=2&a=1"],
    ["/new#part", "?a=1", "/new?a=1#part"],
    ["/new", "?", "/new"],
  ])("keeps its query: to %s with %s", (to, query, location) =>
    expect(locationOf([ruleOf("/old", to)], "/old", { query })).toBe(location),
  );
});

describe("of several rules that fit", () => {
  test("a city goes before a country before a domain before a path before an expression, whatever the order", () => {
    const ordered = [
      ruleOf("/old", "/city", { country: "DE", city: "Berlin" }),
      ruleOf("/old", "/country", { country: "DE" }),
      ruleOf("/old", "/domain", { domain: "a.example" }),
      ruleOf("/old", "/path"),
      ruleOf("^/old", "/expression"),
    ];
    const at = { country: "DE", city: "Berlin" };
    for (let gone = 0; gone < ordered.length; gone += 1) {
      const left = ordered.slice(gone);
      expect(locationOf(left.toReversed(), "/old", { at })).toBe(left[0]?.to);
    }
  });

  test("the older expression goes first", () => {
    expect(locationOf([ruleOf("^/old/", "/one"), ruleOf("^/old/a", "/two")], "/old/a")).toBe("/one");
    expect(locationOf([ruleOf("^/old/a", "/two"), ruleOf("^/old/", "/one")], "/old/a")).toBe("/two");
  });
});

test("a rule of one domain is for that one", () => {
  const rules = [ruleOf("/old", "/new", { domain: "b.example" })];
  expect(locationOf(rules, "/old")).toBeNull();
  expect(locationOf(rules, "/old", { host: "b.example" })).toBe("/new");
});

test("a rule of a place is for visitors from there, and others' place is asked for by nobody", () => {
  const rules = [ruleOf("/old", "/de", { country: "DE" }), ruleOf("/b", "/berlin", { city: "berlin" })];
  expect(locationOf(rules, "/old", { at: { country: "FR", city: null } })).toBeNull();
  expect(locationOf(rules, "/old")).toBeNull();
  expect(locationOf(rules, "/old", { at: { country: "DE", city: null } })).toBe("/de");
  expect(locationOf(rules, "/b", { at: { country: "DE", city: "Berlin" } })).toBe("/berlin");
  const place = () => {
    throw new Error("asked");
  };
  expect(locationOf(rules, "/else", { place })).toBeNull();
});

test("the type decides the status", () => {
  const statuses = (["permanent", "redirect"] as const).map(
    (type) => createRedirects([ruleOf("/old", "/new", { type })]).find(asked("/old"))?.status,
  );
  expect(statuses).toEqual([301, 302]);
});

test.each([
  ["^(.*)$", "https://a.example$1", "https", true],
  ["^(.*)$", "https://a.example$1", "http", false],
  ["^(.*)$", "$1", "http", true],
  ["^(.*)$", "https://b.example$1", "https", false],
] as const)("who follows %s to %s by %s comes to the same: %s", (from, to, scheme, isSame) => {
  const what = asked("/ä", { scheme, query: "?a=1" });
  const found = createRedirects([ruleOf(from, to)]).find(what);
  expect(found !== null && leadsToItself(found, what)).toBe(isSame);
});

test("an expression that takes others exponential time takes none, and a very long path is not held against any", () => {
  const rules = ["^(a+)+$", "(x+x+)+y", "^/(.*a){20}$"].map((from) => ruleOf(from, "/new"));
  expect(locationOf(rules, `/${"a".repeat(2_000)}!`)).toBeNull();
  expect(locationOf([ruleOf("a", "/new")], `/${"a".repeat(3_000)}`)).toBeNull();
});
