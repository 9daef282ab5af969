import { expect, test } from "vitest";
import { networkOf } from "./network.ts";

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6", "20010db800010002::/64"],
  ["2001:db8::1", "20010db800000000::/64"],
  ["2001:db8:0:0:1::", "20010db800000000::/64"],
  ["2001::1:2:3:4:5", "2001000000000001::/64"],
  ["::1", "0000000000000000::/64"],
  ["fe80::1%eth0", "fe80000000000000::/64"],
])("%s is in the network %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
