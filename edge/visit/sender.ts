/**
 * The sender of a request: a visitor, or PHP of this installation, whose connections say which environment it belongs to.
 * PHP has privileges at its own environment only. For other environments it is a visitor with an address of its own, which
 * their logs name and their owners can block.
 */
import ipaddr from "ipaddr.js";
import type { FoundRoute, NoRoute } from "../tables/findRoute.ts";

/** The environment whose PHP opened a connection. */
export interface PhpCaller {
  readonly id: string;
  readonly number: number;
}

export interface Sender {
  /** The visitor's IP address; PHP has the loopback address at its own environment. */
  readonly address: string;
  /** Whether PHP of the requested environment sent the request. */
  readonly fromPhp: boolean;
}

/** The beginning of a network of our own among those for private use (RFC 4193, section 3.1). No packet has such an address. */
const phpNetwork = [0xfd5a, 0x17d2] as const;

/**
 * Returns the address that PHP of this environment has at other environments, in its canonical form. Each environment has a
 * /64 of its own: limits per network (`networkOf`) would otherwise count the PHP of all companies together.
 */
export function addressOfPhp({ number }: Pick<PhpCaller, "number">): string {
  const [high, low] = [Math.floor(number / 0x10000), number % 0x10000];
  return new ipaddr.IPv6([...phpNetwork, high, low, 0, 0, 0, 1]).toString();
}

/** `address`: the visitor's. `caller` is null unless PHP opened the connection. */
export function senderOf(address: string, caller: PhpCaller | null, found: FoundRoute | NoRoute): Sender {
  if (caller === null) return { address, fromPhp: false };
  const isOwn = typeof found !== "string" && found.route.environment.id === caller.id;
  return isOwn ? { address: "127.0.0.1", fromPhp: true } : { address: addressOfPhp(caller), fromPhp: false };
}
