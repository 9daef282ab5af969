import { isIP } from "node:net";
import { describe, expect, test } from "vitest";
import { areAddresses, edgeAddresses, isSocketAddress } from "./edgeAddresses.ts";

describe("addresses of the edge", () => {
  test("are the given ones, without duplicates and in the shortest form", () => {
    expect(edgeAddresses("203.0.113.7,2001:DB8:0:0::7,203.0.113.7", "127.0.0.1")).toEqual([
      "203.0.113.7",
      "2001:db8::7",
    ]);
  });

  test.each(["127.0.0.1", "203.0.113.7", "::1"])("default to the address that it listens on: %s", (host) => {
    expect(edgeAddresses(null, host)).toEqual([host]);
  });

  test.each(["0.0.0.0", "::", "localhost"])("default to the machine's if it listens on %s", (host) => {
    const found = edgeAddresses(null, host);
    expect(found.every((address) => isIP(address) !== 0)).toBe(true);
    for (const own of ["127.0.0.1", "::1", "0.0.0.0", "::"]) expect(found).not.toContain(own);
  });
});

test.each([
  ["203.0.113.7", true],
  ["203.0.113.7,2001:db8::7", true],
  ["203.0.113.7,", false],
  ["203.0.113", false],
  ["203.0.113.7:80", false],
])("%s is a list of addresses: %s", (text, expected) => {
  expect(areAddresses(text)).toBe(expected);
});

test.each([
  ["9.9.9.9:53", true],
  ["[2620:fe::fe]:53", true],
  ["127.0.0.1:5353", true],
  ["9.9.9.9", false],
  ["9.9.9.9:0", false],
  ["9.9.9.9:65536", false],
  ["999.9.9.9:53", false],
  ["[9.9.9.9]:53", false],
  ["2620:fe::fe:53", false],
  ["dns.example.com:53", false],
])("%s is an address and a port: %s", (text, expected) => {
  expect(isSocketAddress(text)).toBe(expected);
});
