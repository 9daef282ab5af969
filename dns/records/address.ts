/** Values of A and AAAA records. */
import { isIPv4, isIPv6 } from "node:net";
import { quoteForMessage } from "../names.ts";
import { BadValue } from "./badValue.ts";

/** Throws `BadValue`. */
export function readIpv4(value: string): Buffer {
  if (!isIPv4(value)) throw new BadValue(`${quoteForMessage(value)} is not an IPv4 address, such as 192.0.2.10`);
  return Buffer.from(value.split(".").map(Number));
}

export function writeIpv4(rdata: Buffer): string {
  return rdata.join(".");
}

/** Throws `BadValue`. */
export function readIpv6(value: string): Buffer {
  if (!isIPv6(value) || value.includes("%")) {
    throw new BadValue(`${quoteForMessage(value)} is not an IPv6 address, such as 2001:db8::10`);
  }
  return ipv6Bytes(value);
}

/** The bytes of a valid IPv6 address. */
export function ipv6Bytes(address: string): Buffer {
  const [head = "", tail] = withoutDots(address).split("::");
  const groups = (half: string) => (half === "" ? [] : half.split(":").map((group) => Number.parseInt(group, 16)));
  const [first, last] = [groups(head), groups(tail ?? "")];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => 0);
  // Small buffers from `allocUnsafe` share memory; `alloc` would allocate each one separately.
  const bytes = Buffer.allocUnsafe(16);
  [...first, ...zeros, ...last].forEach((group, index) => {
    bytes.writeUInt16BE(group, index * 2);
  });
  return bytes;
}

/** Converts a dotted end, as in `::ffff:192.0.2.1`, to two hexadecimal groups. */
function withoutDots(address: string): string {
  const dotted = /[^:]+\.[^:]+$/.exec(address)?.[0];
  if (dotted === undefined) return address;
  const hex = readIpv4(dotted).toString("hex");
  return `${address.slice(0, -dotted.length)}${hex.slice(0, 4)}:${hex.slice(4)}`;
}

/** Writes the longest run of zeros as `::` (RFC 5952). */
export function writeIpv6(rdata: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) => rdata.readUInt16BE(index * 2).toString(16)).join(":");
  const rows = [...groups.matchAll(/(?<![^:])0(?::0)+(?![^:])/g)].map(([row]) => row);
  const longest = rows.reduce((best, row) => (row.length > best.length ? row : best), "");
  if (longest === "") return groups;
  const at = groups.search(new RegExp(`(?<![^:])${longest}(?![^:])`));
  const [before, after] = [groups.slice(0, at).replace(/:$/, ""), groups.slice(at + longest.length).replace(/^:/, "")];
  return `${before}::${after}`;
}
