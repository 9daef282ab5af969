/** Clients' IP addresses: comparison, and the networks that limits apply to. */
import { isIPv4 } from "node:net";
import { ipv6Bytes } from "./records/address.ts";

/** Converts IPv4-mapped IPv6 addresses (`::ffff:192.0.2.1`) to IPv4. */
export function withoutMapping(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  return mapped ?? address;
}

/** The network that limits apply to: a /24 for IPv4, and for IPv6 the /56 that a household usually gets. */
export function networkOf(address: string): string {
  const plain = withoutMapping(address);
  if (isIPv4(plain)) return plain.slice(0, plain.lastIndexOf("."));
  const [withoutScope = ""] = plain.split("%");
  return ipv6Bytes(withoutScope).toString("latin1", 0, 7);
}

export function isSameAddress(one: string, other: string): boolean {
  const [a, b] = [withoutMapping(one), withoutMapping(other)];
  if (isIPv4(a) || isIPv4(b)) return a === b;
  return ipv6Bytes(a).equals(ipv6Bytes(b));
}
