import { expect, test } from "vitest";
import { toUpstream } from "./headers.ts";

const passes = (name: string) => name in toUpstream({ headers: { [name]: "203.0.113.7" } }, "site.example");

test.each([
  "x-real-ip",
  "client-ip",
  "true-client-ip",
  "x-client-ip",
  "fastly-client-ip",
  "x-sucuri-clientip",
  "incap-client-ip",
  "x-proxyuser-ip",
  "x-azure-clientip",
  "cf-connecting-ip",
  "x-cluster-client-ip",
  "front-end-https",
  "x-url-scheme",
  "x-arr-ssl",
  "x-host",
  "x-original-host",
  "x-forwarded-proto",
  "x_real_ip",
])("%s, with which a visitor could pretend to be another or to use HTTPS, does not reach PHP", (name) => {
  expect(passes(name)).toBe(false);
});

test.each([
  "user-agent",
  "cookie",
  "x-requested-with",
  "x-wp-nonce",
  "upgrade-insecure-requests",
  "sec-ch-prefers-color-scheme",
])("%s reaches PHP", (name) => {
  expect(passes(name)).toBe(true);
});
