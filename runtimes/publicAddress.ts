/** Which IP addresses are on the internet: the one definition for PHP, the package source and all other requests. */
import ipaddr from "ipaddr.js";

/** Part of the library, but missing from its types: networks by kind, each an address and the length of its prefix. */
interface Ranges {
  readonly [kind: string]: Network | readonly Network[];
}
type Network = readonly [network: { toString(): string }, prefix: number];

declare module "ipaddr.js" {
  interface IPv4 {
    readonly SpecialRanges: Ranges;
  }
  interface IPv6 {
    readonly SpecialRanges: Ranges;
  }
}

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

/**
 * The networks of all addresses that are not public, such as `10.0.0.0/8`, for programs that decide by themselves. They may
 * overlap. Those of IPv6 include all forms of IPv4 addresses.
 */
export const privateNetworks: { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] } = {
  ipv4: [...networksOf(ipaddr.IPv4.prototype), `${metadataService}/32`],
  ipv6: networksOf(ipaddr.IPv6.prototype),
};

function networksOf({ SpecialRanges }: { readonly SpecialRanges: Ranges }): readonly string[] {
  return Object.values(SpecialRanges)
    .flatMap((found) => (isOne(found) ? [found] : found))
    .map(([network, prefix]) => `${network}/${prefix}`);
}

function isOne(found: Network | readonly Network[]): found is Network {
  return typeof found[1] === "number";
}
