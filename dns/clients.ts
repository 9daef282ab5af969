/** Clients' addresses: whether two are equal, and which are counted together. */
import { isIPv4 } from "node:net";
import { ipv6Bytes } from "./records/address.ts";

/** `::ffff:192.0.2.1`, as a socket for both kinds calls IPv4, is 192.0.2.1. */
export function plainAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  return mapped ?? address;
}

/** The network that is counted as one: 256 addresses of IPv4, the /56 that a house gets of IPv6. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (isIPv4(plain)) return plain.slice(0, plain.lastIndexOf("."));
  const [withoutScope = ""] = plain.split("%");
  return ipv6Bytes(withoutScope).toString("latin1", 0, 7);
}

export function isSameAddress(one: string, other: string): boolean {
  const [a, b] = [plainAddress(one), plainAddress(other)];
  if (isIPv4(a) || isIPv4(b)) return a === b;
  return ipv6Bytes(a).equals(ipv6Bytes(b));
}
