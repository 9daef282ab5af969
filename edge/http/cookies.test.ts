import { expect, test } from "vitest";
import { withOwnCookies, withoutForgedCookies } from "./cookies.ts";

const cookieOf = (value: string) => withOwnCookies([["Set-Cookie", value]], "sites.example.com")[0]?.[1];

test.each([
  "a=1; Domain=sites.example.com; Path=/",
  "a=1; domain=.sites.example.com; Path=/",
  "a=1; DOMAIN = Sites.Example.Com. ; Path=/",
  "a=1; Domain=example.com; Path=/",
  "a=1;Domain=com; Path=/",
  "a=1; Domain=com; Domain=sites.example.com; Path=/",
])("a cookie for all sites is one of its own site: %s", (cookie) => {
  expect(cookieOf(cookie)).toBe("a=1; Path=/");
});

test.each([
  "a=1; Path=/; HttpOnly",
  "a=1; Domain=shop.sites.example.com",
  "a=1; Domain=shop.example",
  "a=1; Domain=mysites.example.com",
  "domain=sites.example.com; Path=/",
])("other cookies are unchanged: %s", (cookie) => {
  expect(cookieOf(cookie)).toBe(cookie);
});

test("other headers are unchanged", () => {
  const header = ["Location", "/?domain=sites.example.com;Domain=sites.example.com"] as const;
  expect(withOwnCookies([header], "sites.example.com")).toEqual([header]);
});

const cookiesFor = (cookie: string, hostName: string | null = "shop.sites.example.com") =>
  withoutForgedCookies({ cookie }, hostName, "sites.example.com").cookie;

test.each([
  ["a=evil; b=2; a=own", "b=2"],
  ["a=evil;a=own;b=2", "b=2"],
  ["a=own; a=own; b=2", "a=own; a=own; b=2"],
  ["wordpress.logged_in=evil; wordpress_logged_in=own; b=2", "b=2"],
  ["wordpress[logged_in=evil; wordpress_logged_in=own; b=2", "b=2"],
  ["__Host-id=evil; __Host-id=own; b=2", "b=2"],
  ["a; a=own; b=2", "b=2"],
  ["a=1=2; a=1=3; b=2", "b=2"],
  ["list[x]=1; list[y]=2", "list[x]=1; list[y]=2"],
  ["a=1; A=2", "a=1; A=2"],
])("of the cookies %j PHP gets %j", (sent, passedOn) => {
  expect(cookiesFor(sent)).toBe(passedOn);
});

test("doubled cookies are passed on at a customer's own domain, which is shared with no one", () => {
  const doubled = "a=1; a=2";
  for (const name of ["shop.example", "mysites.example.com", null]) expect(cookiesFor(doubled, name)).toBe(doubled);
  expect(withoutForgedCookies({}, "shop.sites.example.com", "sites.example.com")).toEqual({});
});

test.each([
  ["sitewright=ss_1; a=1", "a=1"],
  ["a=1; __Host-sitewright=ss_1", "a=1"],
  ["sitewright=ss_1", ""],
  ["sitewright-sign-in=x; a=1; __Host-sitewright-sign-in=y", "a=1"],
  ["sitewrights=1; my-sitewright=2", "sitewrights=1; my-sitewright=2"],
  ["sitewright-sign-ins=1", "sitewright-sign-ins=1"],
])("PHP gets no session of the console: of %j it gets %j", (sent, passedOn) => {
  for (const name of ["shop.sites.example.com", "shop.example", null]) expect(cookiesFor(sent, name)).toBe(passedOn);
});

test.each([
  "sitewright=forged; Path=/",
  "__Host-sitewright=forged; Secure; Path=/",
  "sitewright; Path=/",
  "sitewright-sign-in=forged; Path=/",
  "=sitewright=forged; Path=/v2",
])("PHP can't set a session of the console: %s", (cookie) => {
  const headers = [
    ["Set-Cookie", cookie],
    ["Set-Cookie", "a=1"],
  ] as const;
  expect(withOwnCookies(headers, "sites.example.com")).toEqual([["Set-Cookie", "a=1"]]);
});
