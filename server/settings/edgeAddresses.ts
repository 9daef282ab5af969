/** Addresses in settings: where visitors reach the sites, which resolver is asked, and how what listens is reached from here. */
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** Of what listens on `host`, as it stands in addresses: "every address" is none that can be opened. */
export function reachable(host: string): string {
  const address = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return address.includes(":") ? `[${address}]` : address;
}

const highestPort = 65_535;

/** `203.0.113.7,2001:db8::7`. */
export function areAddresses(text: string): boolean {
  return text.split(",").every((address) => isIP(address) !== 0);
}

/** `9.9.9.9:53` or `[2620:fe::fe]:53`. */
export function isResolver(text: string): boolean {
  const [, version6, version4 = "", port = ""] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const isAddress = version6 === undefined ? isIP(version4) === 4 : isIP(version6) === 6;
  return isAddress && Number(port) >= 1 && Number(port) <= highestPort;
}

/**
 * What domains are to point to, each in its shortest form. Where it is not said, it is what this machine listens on: the one
 * address, or all that others can reach.
 */
export function edgeAddresses(given: string | null, host: string): readonly string[] {
  const listed = given?.split(",") ?? (isOneAddress(host) ? [host] : reachableAddresses());
  return [...new Set(listed.map((address) => ipaddr.parse(address).toString()))];
}

function isOneAddress(host: string): boolean {
  return isIP(host) !== 0 && !["0.0.0.0", "::"].includes(ipaddr.parse(host).toString());
}

function reachableAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  // One with a scope means something on one wire only.
  return all.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address);
}
