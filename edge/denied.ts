/** Addresses that an environment doesn't answer. */
import { BlockList, isIP } from "node:net";

/** Of an address as `addressOf` gives it. */
export type IsDenied = (address: string) => boolean;

interface Network {
  readonly version: "ipv4" | "ipv6";
  readonly address: string;
  readonly bits: number;
}

const nobody: IsDenied = () => false;
const networkForm = /^([^/%]+)(?:\/(\d{1,3}))?$/;

/** Addresses and networks in the form of `203.0.113.7` and `2001:db8::/32`. What is neither holds nobody. */
export function createDenied(list: readonly string[]): IsDenied {
  if (list.length === 0) return nobody;
  // A table comes more often than visitors to most of its environments.
  let known: Record<Network["version"], BlockList> | null = null;
  return (address) => {
    known ??= read(list);
    const version = versionOf(address);
    return version !== null && known[version].check(address, version);
  };
}

/** Null if the text is neither an address nor a network. */
export function readNetwork(text: string): Network | null {
  const [, address = "", prefix] = networkForm.exec(text) ?? [];
  const version = versionOf(address);
  if (version === null) return null;
  const most = version === "ipv4" ? 32 : 128;
  const bits = Number(prefix ?? most);
  return bits <= most ? { version, address, bits } : null;
}

/** Apart, because a network of version 6 may hold the form in which addresses of version 4 are written as such of 6. */
function read(list: readonly string[]): Record<Network["version"], BlockList> {
  const known = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const network of list.map(readNetwork)) {
    if (network !== null) known[network.version].addSubnet(network.address, network.bits, network.version);
  }
  return known;
}

function versionOf(address: string): Network["version"] | null {
  const version = isIP(address);
  return version === 0 ? null : version === 4 ? "ipv4" : "ipv6";
}
