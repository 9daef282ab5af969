/** Addresses and networks as people write them, in the one form in which they are kept. */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The message says what is wrong with it, and follows on "must": what to send instead. */
export class NoNetwork extends Error {
  override readonly name = "NoNetwork";
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const bitsOfVersion4 = 32;
/** `::ffff:203.0.113.7` is an address of version 4, written as one of version 6. */
const mappedBits = 96;

/**
 * The shortest form: `203.0.113.7`, `2001:db8::/32`. An address of version 4 stays one, however it is written. Throws
 * `NoNetwork` for anything else, and for a network that nobody means: one with bits set behind its prefix may be meant to be
 * a single address, and one that holds everybody, or everybody behind a proxy on this machine, leaves no visitors.
 */
export function readNetwork(text: string): string {
  const [written = "", prefix, ...more] = text.split("/");
  const address = readAddress(written);
  const most = address.toByteArray().length * 8;
  const bits = prefix === undefined ? most : readPrefix(prefix, most);
  if (more.length > 0) throw new NoNetwork("have one slash at most");
  return shortest(address, bits);
}

function readAddress(text: string): Address {
  if (text.includes("%"))
    throw new NoNetwork("be an address without a zone, which means something on one machine only");
  if (/^\d+(\.\d+){3}$/.test(text) && /(^|\.)0\d/.test(text)) {
    throw new NoNetwork("have no number with a leading zero, which some programs read as octal");
  }
  if (isIP(text) === 0) {
    throw new NoNetwork("be an address, such as 203.0.113.7 or 2001:db8::1, or a network, such as 203.0.113.0/24");
  }
  return ipaddr.parse(text);
}

function readPrefix(text: string, most: number): number {
  if (/^(0|[1-9]\d{0,2})$/.test(text) && Number(text) <= most) return Number(text);
  throw new NoNetwork(`have a whole number from 1 to ${most} behind the slash`);
}

function shortest(address: Address, bits: number): string {
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= mappedBits) {
    return shortest(address.toIPv4Address(), bits - mappedBits);
  }
  if (holdsLoopback(address, bits)) {
    throw new NoNetwork(
      "not contain this machine itself (127.0.0.0/8, ::1): visitors through a local proxy come from there",
    );
  }
  if (bits === 0) throw new NoNetwork("not be a network of all addresses: the site would have no visitors at all");
  const most = address instanceof ipaddr.IPv6 ? mappedBits + bitsOfVersion4 : bitsOfVersion4;
  const network = networkOf(address, bits);
  if (written(network) !== written(address)) {
    const meant = `${written(network)}/${bits}, or ${written(address)} for the one address`;
    throw new NoNetwork(`have no bits set behind the prefix: ${meant}`);
  }
  return bits === most ? written(address) : `${written(address)}/${bits}`;
}

function holdsLoopback(address: Address, bits: number): boolean {
  const loopback = address instanceof ipaddr.IPv6 ? "::1" : "127.0.0.1";
  const isWithin = address instanceof ipaddr.IPv4 && address.range() === "loopback";
  return (
    isWithin || (bits > 0 && written(networkOf(ipaddr.parse(loopback), bits)) === written(networkOf(address, bits)))
  );
}

function written(address: Address): string {
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address.toString();
}

function networkOf(address: Address, bits: number): Address {
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return ipaddr.fromByteArray(bytes);
}
