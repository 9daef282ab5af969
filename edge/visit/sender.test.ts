import ipaddr from "ipaddr.js";
import { expect, test } from "vitest";
import { addressOfPhp } from "./sender.ts";

test.each([1, 9, 0xffff, 0x10000, 0x1234_5678, 0xffff_ffff])(
  "PHP of environment %i has an address of its own, in the form in which addresses are blocked",
  (number) => {
    const address = addressOfPhp({ number });
    expect(ipaddr.parse(address).toString()).toBe(address);
    expect(ipaddr.parse(address).range()).toBe("uniqueLocal");
    expect(Buffer.from(ipaddr.parse(address).toByteArray()).readUInt32BE(12)).toBe(number);
  },
);
