/** The network of an IP address: its owner can usually choose freely among the network's addresses. */
import ipaddr from "ipaddr.js";

const networkBytes = 8;

/**
 * For IPv6 the first 64 bits, because a provider's customer usually has all addresses below them; otherwise the address
 * itself. `address` comes from `addressOf`.
 */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const bytes = ipaddr.parse(address).toByteArray().slice(0, networkBytes);
  return `${Buffer.from(bytes).toString("hex")}::/64`;
}
