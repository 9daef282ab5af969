import { describe, expect, test } from "vitest";
import { ruleOf } from "../testing/redirectRule.ts";
import { createRedirects, isSelfRedirect } from "./redirects.ts";
import { nowhere, type RedirectRule, type RequestedUrl, type VisitorLocation } from "./rule.ts";

function requestFor(path: string, more: Partial<RequestedUrl> & { readonly at?: VisitorLocation } = {}): RequestedUrl {
  const { at = nowhere, ...rest } = more;
  return { scheme: "http", host: "a.example", path, query: "", place: () => at, ...rest };
}

const locationOf = (rules: readonly RedirectRule[], ...request: Parameters<typeof requestFor>) =>
  createRedirects(rules).find(requestFor(...request))?.location ?? null;

test.each([
  ["/old", "/old", "/new"],
  ["/old", "/old/", "/new"],
  ["/old/", "/old", "/new"],
  ["/old.html", "/old.html", "/new"],
  ["/caf%C3%A9", "/café", "/new"],
  ["/café", "/café", "/new"],
  ["/", "/", "/new"],
])("the path %s matches %s", (from, path, location) => expect(locationOf([ruleOf(from, "/new")], path)).toBe(location));

test.each([
  ["/old", "/older"],
  ["/old", "/x/old"],
  ["/old", "/OLD"],
  ["/old.html", "/oldxhtml"],
  ["^/old$", "/old/"],
  ["^/old/(\\d+)$", "/old/x"],
])("%s does not match %s", (from, path) => expect(locationOf([ruleOf(from, "/new")], path)).toBeNull());

test.each([
  ["^/blog/(.*)$", "/news/$1", "/blog/a/b", "/news/a/b"],
  ["^/(\\d{4})/(\\d\\d)/(.+?)/?$", "/$3-$2-$1", "/2020/05/spring/", "/spring-05-2020"],
  ["^(.*)$", "https://b.example$1", "/a", "https://b.example/a"],
  ["(?i)^/OLD$", "/new", "/old", "/new"],
  ["shop|store", "/new", "/the-store", "/new"],
  ["^/a(b)?$", "/x$1y", "/a", "/xy"],
  ["/product-([a-z]+)", "/p/$1", "/shop/product-tea", "/p/tea"],
])("%s with the target %s redirects %s to %s", (from, to, path, location) =>
  expect(locationOf([ruleOf(from, to)], path)).toBe(location),
);

describe("the requested URL", () => {
  test.each([
    ["^/go(/.*)$", "/$1", "/go//evil.example", "/evil.example"],
    ["^/go/(.*)$", "https://b.example$1", "/go/@evil.example", "https://b.example/@evil.example"],
    ["^/go/(.*)$", "https://b.example$1", "/go/.evil.example", "https://b.example/.evil.example"],
    ["^/go/(.*)$", "/x/$1", "/go/a?b#c d", "/x/a%3Fb%23c%20d"],
    ["(?s)^/go/(.*)$", "/x/$1", "/go/a\r\nSet-Cookie: b=1", "/x/a%0D%0ASet-Cookie:%20b=1"],
    ["^/go/(.*)$", "/x/$1", "/go/\ud800", "/x/%EF%BF%BD"],
  ])("can only become a path: %s, %s, %j", (from, to, path, location) =>
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

describe("if several rules match", () => {
  test("the order is city, country, domain, path, expression", () => {
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

  test("the older expression applies", () => {
    expect(locationOf([ruleOf("^/old/", "/one"), ruleOf("^/old/a", "/two")], "/old/a")).toBe("/one");
    expect(locationOf([ruleOf("^/old/a", "/two"), ruleOf("^/old/", "/one")], "/old/a")).toBe("/two");
  });
});

test("a rule for a domain applies only to it", () => {
  const rules = [ruleOf("/old", "/new", { domain: "b.example" })];
  expect(locationOf(rules, "/old")).toBeNull();
  expect(locationOf(rules, "/old", { host: "b.example" })).toBe("/new");
});

test("a rule for a location applies only there, and the location is looked up only if a rule needs it", () => {
  const rules = [ruleOf("/old", "/de", { country: "DE" }), ruleOf("/b", "/berlin", { city: "berlin" })];
  expect(locationOf(rules, "/old", { at: { country: "FR", city: null } })).toBeNull();
  expect(locationOf(rules, "/old")).toBeNull();
  expect(locationOf(rules, "/old", { at: { country: "DE", city: null } })).toBe("/de");
  expect(locationOf(rules, "/b", { at: { country: "DE", city: "Berlin" } })).toBe("/berlin");
  const place = () => {
    throw new Error("looked up");
  };
  expect(locationOf(rules, "/else", { place })).toBeNull();
});

test("the type decides the status", () => {
  const statuses = (["permanent", "redirect"] as const).map(
    (type) => createRedirects([ruleOf("/old", "/new", { type })]).find(requestFor("/old"))?.status,
  );
  expect(statuses).toEqual([301, 302]);
});

test.each([
  ["^(.*)$", "https://a.example$1", "https", true],
  ["^(.*)$", "https://a.example$1", "http", false],
  ["^(.*)$", "$1", "http", true],
  ["^(.*)$", "https://b.example$1", "https", false],
] as const)("a redirect from %s to %s over %s leads to itself: %s", (from, to, scheme, isSame) => {
  const request = requestFor("/ä", { scheme, query: "?a=1" });
  const found = createRedirects([ruleOf(from, to)]).find(request);
  expect(found !== null && isSelfRedirect(found, request)).toBe(isSame);
});

test("expressions never take exponential time, and very long paths are not matched", () => {
  const rules = ["^(a+)+$", "(x+x+)+y", "^/(.*a){20}$"].map((from) => ruleOf(from, "/new"));
  expect(locationOf(rules, `/${"a".repeat(2_000)}!`)).toBeNull();
  expect(locationOf([ruleOf("a", "/new")], `/${"a".repeat(3_000)}`)).toBeNull();
});
