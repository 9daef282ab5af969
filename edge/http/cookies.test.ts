import { expect, test } from "vitest";
import { withOwnCookies } from "./cookies.ts";

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
