import { expect, test } from "vitest";
import { createTrustedProxies, noProxies, readProxyNetwork } from "./trustedProxies.ts";

const proxies = createTrustedProxies(["10.1.2.0/24", "198.51.100.7", "2001:db8:1::/48"]);

test.each([
  { name: "no header", from: "10.1.2.3", header: undefined, visitor: "10.1.2.3" },
  { name: "one hop", from: "10.1.2.3", header: "203.0.113.9", visitor: "203.0.113.9" },
  { name: "several proxies", from: "10.1.2.3", header: "203.0.113.9, 198.51.100.7,10.1.2.4", visitor: "203.0.113.9" },
  { name: "a visitor's own claim before", from: "10.1.2.3", header: "127.0.0.1, 203.0.113.9", visitor: "203.0.113.9" },
  { name: "a claimed proxy", from: "10.1.2.3", header: "1.2.3.4, 10.1.2.9, 203.0.113.9", visitor: "203.0.113.9" },
  { name: "only proxies", from: "10.1.2.3", header: "10.1.2.9, 10.1.2.8", visitor: "10.1.2.9" },
  { name: "IPv6", from: "2001:db8:1::5", header: "2001:DB8:9:0::1", visitor: "2001:db8:9::1" },
  { name: "IPv4 written as IPv6", from: "10.1.2.3", header: "::ffff:203.0.113.9", visitor: "203.0.113.9" },
  { name: "ports", from: "10.1.2.3", header: "[2001:db8:9::1]:4711, 10.1.2.4:80", visitor: "2001:db8:9::1" },
  { name: "several lines", from: "10.1.2.3", header: ["203.0.113.9", "10.1.2.4"], visitor: "203.0.113.9" },
  { name: "text", from: "10.1.2.3", header: "203.0.113.9, unknown", visitor: "10.1.2.3" },
  { name: "text before", from: "10.1.2.3", header: "unknown, 10.1.2.4", visitor: "10.1.2.4" },
  { name: "nothing", from: "10.1.2.3", header: "", visitor: "10.1.2.3" },
  { name: "a link's address", from: "10.1.2.3", header: "fe80::1%eth0", visitor: "10.1.2.3" },
  { name: "not from a proxy", from: "203.0.113.1", header: "203.0.113.9", visitor: "203.0.113.1" },
  { name: "from next to the network", from: "10.1.3.1", header: "203.0.113.9", visitor: "10.1.3.1" },
])("the visitor is the last hop that is no trusted proxy: $name", ({ from, header, visitor }) => {
  expect(proxies.visitorOf(from, header)).toBe(visitor);
});

test("without a list, nobody is trusted", () => {
  expect(createTrustedProxies([])).toBe(noProxies);
  expect(noProxies.visitorOf("127.0.0.1", "203.0.113.9")).toBe("127.0.0.1");
});

test.each([
  ["proxy.example", /neither an address nor a network/],
  ["", /neither an address nor a network/],
  ["10.1.2.0/24/8", /neither an address nor a network/],
  ["fe80::1%eth0", /neither an address nor a network/],
  ["10.1.2.0/", /no valid length .* from 1 to 32/],
  ["10.1.2.0/33", /no valid length .* from 1 to 32/],
  ["2001:db8::/129", /no valid length .* from 1 to 128/],
  ["0.0.0.0/0", /contains all addresses/],
  ["::/0", /contains all addresses/],
  ["203.0.113.7/8", /Write 203\.0\.0\.0\/8, or 203\.0\.113\.7 for one address/],
  ["2001:db8::1/32", /Write 2001:db8::\/32, or 2001:db8::1 for one address/],
])("%j is refused with the reason", (text, reason) => expect(readProxyNetwork(text)).toMatch(reason));
