import { expect, test } from "vitest";
import { isPublic } from "./publicAddress.ts";

test.each([
  ["93.184.216.34", true],
  ["2606:2800:220:1::1", true],
  ["127.0.0.1", false],
  ["0.0.0.0", false],
  ["192.168.1.1", false],
  ["100.64.0.1", false],
  ["169.254.169.254", false],
  ["::1", false],
  ["fe80::1", false],
  ["fd00::1", false],
  ["::ffff:10.0.0.1", false],
  ["64:ff9b::7f00:1", false],
  ["10.0.0.5", false],
  ["172.17.0.2", false],
  ["198.18.0.1", false],
  ["100.100.100.200", false],
  ["168.63.129.16", false],
  ["::ffff:168.63.129.16", false],
  ["192.0.0.192", false],
  ["fd00:ec2::254", false],
  ["fec0::1", false],
  ["2002:a00:1::1", false],
  ["2001::1", false],
  ["64:ff9b:1::1", false],
  ["::10.0.0.1", false],
  ["224.0.0.1", false],
  ["240.0.0.1", false],
  ["nonsense", false],
])("%s is a public address: %s", (address, expected) => {
  expect(isPublic(address)).toBe(expected);
});
