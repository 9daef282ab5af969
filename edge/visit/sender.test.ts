import ipaddr from "ipaddr.js";
import { expect, test } from "vitest";
import { networkOf } from "../http/network.ts";
import { addressOfPhp } from "./sender.ts";

test.each([1, 9, 0xffff, 0x10000, 0x1234_5678, 0xffff_ffff])(
  "PHP of environment %i has an address of its own, in the form in which addresses are blocked",
  (number) => {
    const address = addressOfPhp({ number });
    expect(ipaddr.parse(address).toString()).toBe(address);
    expect(ipaddr.parse(address).range()).toBe("uniqueLocal");
    expect(Buffer.from(ipaddr.parse(address).toByteArray()).readUInt32BE(4)).toBe(number);
  },
);

test("PHP of each environment is a network of its own", () => {
  const networks = [1, 2, 0x10001, 0x20000].map((number) => networkOf(addressOfPhp({ number })));
  expect(new Set(networks).size).toBe(4);
});
