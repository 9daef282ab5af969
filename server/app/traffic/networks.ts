/** Parses IP addresses and networks, and converts them to the canonical form in which they are stored. */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";

/** The message completes a sentence that begins with "… must". */
export class InvalidNetwork extends Error {
  override readonly name = "InvalidNetwork";
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** `::ffff:203.0.113.7` is an IPv4 address, written as an IPv6 address. */
const mappedBits = 96;

interface Network {
  readonly address: Address;
  readonly bits: number;
}

/**
 * Returns the shortest form: `203.0.113.7`, `2001:db8::/32`. IPv4-mapped IPv6 addresses become IPv4 addresses. Throws
 * `InvalidNetwork` for anything else, and for networks with bits set after the prefix: a single address may be meant.
 */
export function readAnyNetwork(text: string): string {
  return written(checked(parse(text)));
}

/**
 * Like `readAnyNetwork`, but for visitors to block: also refuses all addresses, and the loopback address, from which all
 * visitors behind a local proxy come.
 */
export function readNetwork(text: string): string {
  const network = parse(text);
  if (containsLoopback(network)) {
    throw new InvalidNetwork(
      "not contain the loopback addresses (127.0.0.0/8, ::1), since all visitors behind a local proxy have them",
    );
  }
  if (network.bits === 0) throw new InvalidNetwork("not contain all addresses, since that would block every visitor");
  return written(checked(network));
}

/** Whether every address of the second network is in the first. Both are in their shortest form. */
export function contains(outer: string, inner: string): boolean {
  const [wide, narrow] = [parse(outer), parse(inner)];
  if (wide.address.kind() !== narrow.address.kind() || wide.bits > narrow.bits) return false;
  return textOf(networkOf(narrow.address, wide.bits)) === textOf(wide.address);
}

/** Bits of an IPv6 address that identify the client's network. */
const clientBits = 64;

/**
 * Returns the network that counts as one client: of IPv6 the first 64 bits, because a provider's customer usually has all
 * addresses below them; otherwise the address itself. All addresses that can't be read count as one client, `unknown`.
 */
export function clientNetwork(address: string): string {
  const known = clientNetworks.get(address);
  if (known !== undefined) return known;
  const network = findClientNetwork(address);
  clientNetworks.set(address, network);
  return network;
}

/** Requests of the same client follow each other. */
const clientNetworks = new LRUCache<string, string>({ max: 1_000 });

function findClientNetwork(address: string): string {
  const [withoutZone = ""] = address.split("%", 1);
  if (isIP(withoutZone) === 0) return "unknown";
  const { address: parsed, bits } = parse(withoutZone);
  const network = parsed instanceof ipaddr.IPv6 ? clientBits : bits;
  return written({ address: networkOf(parsed, network), bits: network });
}

function parse(text: string): Network {
  const [address = "", prefix, ...more] = text.split("/");
  const parsed = readAddress(address);
  const maxBits = bitsOf(parsed);
  const bits = prefix === undefined ? maxBits : readPrefix(prefix, maxBits);
  if (more.length > 0) throw new InvalidNetwork("have at most one slash");
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() && bits >= mappedBits) {
    return { address: parsed.toIPv4Address(), bits: bits - mappedBits };
  }
  return { address: parsed, bits };
}

const bitsOf = (address: Address): number => address.toByteArray().length * 8;

function readAddress(text: string): Address {
  if (text.includes("%")) throw new InvalidNetwork("be an IP address without a zone, which is local to one machine");
  if (/^\d+(\.\d+){3}$/.test(text) && /(^|\.)0\d/.test(text)) {
    throw new InvalidNetwork("have no number with a leading zero, which some programs read as octal");
  }
  if (isIP(text) === 0) {
    throw new InvalidNetwork(
      "be an IP address such as 203.0.113.7 or 2001:db8::1, or a network such as 203.0.113.0/24",
    );
  }
  return ipaddr.parse(text);
}

function readPrefix(text: string, maxBits: number): number {
  if (/^(0|[1-9]\d{0,2})$/.test(text) && Number(text) <= maxBits) return Number(text);
  throw new InvalidNetwork(`have a whole number from 1 to ${maxBits} after the slash`);
}

function checked({ address, bits }: Network): Network {
  const network = networkOf(address, bits);
  if (textOf(network) === textOf(address)) return { address, bits };
  const valid = `${textOf(network)}/${bits}, or ${textOf(address)} for the single address`;
  throw new InvalidNetwork(`have no bits set after the prefix: ${valid}`);
}

function written({ address, bits }: Network): string {
  return bits === bitsOf(address) ? textOf(address) : `${textOf(address)}/${bits}`;
}

function containsLoopback({ address, bits }: Network): boolean {
  const loopback = address instanceof ipaddr.IPv6 ? "::1" : "127.0.0.1";
  const isWithin = address instanceof ipaddr.IPv4 && address.range() === "loopback";
  return isWithin || (bits > 0 && textOf(networkOf(ipaddr.parse(loopback), bits)) === textOf(networkOf(address, bits)));
}

function textOf(address: Address): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

function networkOf(address: Address, bits: number): Address {
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return ipaddr.fromByteArray(bytes);
}
