/** Addresses in settings: those of the edge, and of DNS servers. */
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { isPublic } from "@sitewright/runtimes/publicAddress.ts";
import ipaddr from "ipaddr.js";

/** Host for URLs of a server that listens on `host`: a loopback address if it listens on all addresses; IPv6 in brackets. */
export function urlHost(host: string): string {
  const address = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return address.includes(":") ? `[${address}]` : address;
}

const maxPort = 65_535;

/** Whether the text is a list such as `203.0.113.7,2001:db8::7`. */
export function areAddresses(text: string): boolean {
  return text.split(",").every((address) => isIP(address) !== 0);
}

/** Whether the text is a list of networks such as `10.1.2.0/24,fd00:1::/64`. */
export function areNetworks(text: string): boolean {
  return text.split(",").every((network) => ipaddr.isValidCIDR(network));
}

/** Whether the text is an address and a port, such as `9.9.9.9:53` or `[2620:fe::fe]:53`. */
export function isSocketAddress(text: string): boolean {
  const [, ipv6, ipv4 = "", port = ""] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const isAddress = ipv6 === undefined ? isIP(ipv4) === 4 : isIP(ipv6) === 6;
  return isAddress && Number(port) >= 1 && Number(port) <= maxPort;
}

/**
 * The addresses that domains must point to, each in its shortest form. Default: the address that this machine listens on, or
 * all its non-local addresses if it listens on all.
 */
export function edgeAddresses(given: string | null, host: string): readonly string[] {
  const listed = given?.split(",") ?? (isSingleAddress(host) ? [host] : machineAddresses());
  return [...new Set(listed.map((address) => ipaddr.parse(address).toString()))];
}

/** Whether a server that listens on `host` has a public address. */
export function isReachableFromInternet(host: string): boolean {
  return (isSingleAddress(host) ? [host] : machineAddresses()).some(isPublic);
}

function isSingleAddress(host: string): boolean {
  return isIP(host) !== 0 && !["0.0.0.0", "::"].includes(ipaddr.parse(host).toString());
}

function machineAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  // An address with a scope is valid only on one link.
  return all.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address);
}
