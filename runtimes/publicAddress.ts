/** Which IP addresses are on the internet: the one definition for PHP, the package source and all other requests. */
import ipaddr from "ipaddr.js";

/** Azure's metadata service: a public address that leads to the machine's own credentials. */
const metadataService = "168.63.129.16";

/**
 * Whether an address is on the internet: not local, private, shared by a provider's customers, reserved, or an IPv6 form of
 * such an IPv4 address. False for text that is no address.
 */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const plain = ipaddr.process(address);
  return plain.range() === "unicast" && plain.toString() !== metadataService;
}
