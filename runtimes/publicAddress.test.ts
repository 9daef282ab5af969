import { BlockList } from "node:net";
import ipaddr from "ipaddr.js";
import { expect, test } from "vitest";
import { isPublic, privateNetworks } from "./publicAddress.ts";

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

/** The first and the last address of each network, their neighbours, and addresses in between. */
function addressesAround(network: string): readonly string[] {
  const [address, prefix] = ipaddr.parseCIDR(network);
  const bytes = address.toByteArray();
  const bits = BigInt(bytes.length * 8);
  const first = bytes.reduce((sum, byte) => (sum << 8n) + BigInt(byte), 0n);
  const size = 1n << (bits - BigInt(prefix));
  const numbers = [first - 1n, first, first + size / 3n, first + size / 2n, first + size - 1n, first + size];
  return numbers
    .filter((number) => number >= 0n && number < 1n << bits)
    .map((number) =>
      ipaddr.fromByteArray(bytes.map((_, at) => Number((number >> (bits - 8n * BigInt(at + 1))) & 255n))),
    )
    .map(String);
}

test.each(["ipv4", "ipv6"] as const)("an address of %s is public exactly if it is in no private network", (kind) => {
  const networks = privateNetworks[kind];
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), kind);
  }
  // The system turns connections to mapped addresses into those of IPv4.
  const isMapped = (address: string) => address.startsWith("::ffff:");
  const addresses = networks.flatMap(addressesAround).filter((address) => !isMapped(address));
  expect(addresses.length).toBeGreaterThan(80);
  for (const address of addresses) expect([address, list.check(address, kind)]).toEqual([address, !isPublic(address)]);
});
