/**
 * Proxies in front of the edge or the API, which say where a request comes from (`X-Forwarded-For`). Only those in networks that the
 * operator has listed are believed; from others, the header is a claim of the visitor.
 *
 * Each proxy adds the address that it sees at the end of the list. So the list is read from its end, for as long as the address is a
 * trusted proxy's: everything before may be made up.
 */
import { BlockList, isIP } from "node:net";
import ipaddr from "ipaddr.js";

export interface TrustedProxies {
  /** Whether it is the address of a trusted proxy. */
  has(address: string): boolean;
  /** Returns the visitor's address for a connection from `address`, in its shortest form. `forwardedFor`: all values of the header. */
  visitorOf(address: string, forwardedFor: string | readonly string[] | undefined): string;
}

export const noProxies: TrustedProxies = { has: () => false, visitorOf: (address) => address };

/** `networks`: as `readProxyNetwork` accepts them. */
export function createTrustedProxies(networks: readonly string[]): TrustedProxies {
  if (networks.length === 0) return noProxies;
  const listed = new BlockList();
  for (const text of networks) {
    const network = readProxyNetwork(text);
    if (typeof network === "string") throw new Error(network);
    listed.addSubnet(network.address, network.prefix, network.family);
  }
  const has = (address: string) => {
    const family = isIP(address);
    return family !== 0 && listed.check(address, family === 4 ? "ipv4" : "ipv6");
  };
  return {
    has,
    visitorOf(address, forwardedFor) {
      let visitor = address;
      for (const hop of hopsOf(forwardedFor).toReversed()) {
        const next = has(visitor) ? addressIn(hop) : null;
        if (next === null) break;
        visitor = next;
      }
      return visitor;
    },
  };
}

function hopsOf(forwardedFor: string | readonly string[] | undefined): readonly string[] {
  if (forwardedFor === undefined) return [];
  return (typeof forwardedFor === "string" ? forwardedFor : forwardedFor.join(",")).split(",");
}

/** Some proxies add the port. Null: not an address, so nothing before it can be believed. */
function addressIn(hop: string): string | null {
  const text = hop.trim();
  const [, ipv6, ipv4] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? [];
  const address = ipv6 ?? ipv4 ?? text;
  return isIP(address) === 0 || address.includes("%") ? null : ipaddr.process(address).toString();
}

interface ProxyNetwork {
  readonly address: string;
  readonly prefix: number;
  readonly family: "ipv4" | "ipv6";
}

/** Reads an address, or a network such as `10.1.2.0/24`. Returns a sentence if it is neither, or contains more than was meant. */
export function readProxyNetwork(text: string): ProxyNetwork | string {
  const [address = "", prefixText, ...more] = text.split("/");
  const isAddress = isIP(address) !== 0 && !address.includes("%");
  if (!isAddress || more.length > 0) {
    return `"${text}" is neither an address nor a network. Write 10.1.2.3 or 10.1.2.0/24.`;
  }
  const family = isIP(address) === 4 ? "ipv4" : "ipv6";
  const bits = family === "ipv4" ? 32 : 128;
  const prefix = prefixText === undefined ? bits : Number(prefixText);
  if (!/^\d{1,3}$/.test(prefixText ?? "0") || prefix > bits) {
    return `"${text}" has no valid length after the slash. Write a number from 1 to ${bits}.`;
  }
  if (prefix === 0) return `"${text}" contains all addresses, so every visitor could claim to be another one.`;
  const first = firstOf(address, prefix, family);
  if (first !== ipaddr.parse(address).toString()) {
    return `"${text}" is not the beginning of a network. Write ${first}/${prefix}, or ${address} for one address.`;
  }
  return { address, prefix, family };
}

function firstOf(address: string, prefix: number, family: "ipv4" | "ipv6"): string {
  const network = `${address}/${prefix}`;
  return (
    family === "ipv4" ? ipaddr.IPv4.networkAddressFromCIDR(network) : ipaddr.IPv6.networkAddressFromCIDR(network)
  ).toString();
}
