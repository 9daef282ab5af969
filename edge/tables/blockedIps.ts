/** Blocked IP addresses of an environment. */
import { BlockList, isIP } from "node:net";

/** `address` comes from `addressOf`. */
export type IsBlocked = (address: string) => boolean;

interface Network {
  readonly version: "ipv4" | "ipv6";
  readonly address: string;
  readonly bits: number;
}

const blocksNone: IsBlocked = () => false;
const networkPattern = /^([^/%]+)(?:\/(\d{1,3}))?$/;

/** `list` holds IP addresses and networks such as `203.0.113.7` and `2001:db8::/32`. Invalid entries are ignored. */
export function createBlocklist(list: readonly string[]): IsBlocked {
  if (list.length === 0) return blocksNone;
  // Parsed on first use: most environments get more new tables than visitors.
  let lists: Record<Network["version"], BlockList> | null = null;
  return (address) => {
    lists ??= parseLists(list);
    const version = versionOf(address);
    return version !== null && lists[version].check(address, version);
  };
}

/** Null if the text is neither an IP address nor a network. */
export function readNetwork(text: string): Network | null {
  const [, address = "", prefix] = networkPattern.exec(text) ?? [];
  const version = versionOf(address);
  if (version === null) return null;
  const maxBits = version === "ipv4" ? 32 : 128;
  const bits = Number(prefix ?? maxBits);
  return bits <= maxBits ? { version, address, bits } : null;
}

/** One list per version: an IPv6 network can contain the IPv4-mapped addresses, which must not match. */
function parseLists(list: readonly string[]): Record<Network["version"], BlockList> {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const network of list.map(readNetwork)) {
    if (network !== null) lists[network.version].addSubnet(network.address, network.bits, network.version);
  }
  return lists;
}

function versionOf(address: string): Network["version"] | null {
  const version = isIP(address);
  return version === 0 ? null : version === 4 ? "ipv4" : "ipv6";
}
