/** DNS settings: secondary servers, their TSIG key, and an external PowerDNS. */
import { isSocketAddress } from "./edgeAddresses.ts";

export interface SocketAddress {
  readonly address: string;
  readonly port: number;
}

/** A key as accepted by `dig -y`. */
export interface TsigKey {
  readonly name: string;
  readonly algorithm: "hmac-sha256" | "hmac-sha512";
  /** Base64. */
  readonly secret: string;
}

export interface DnsSecondaries {
  readonly addresses: readonly SocketAddress[];
  readonly key: TsigKey;
}

export interface PowerDnsServer {
  /** URL of its HTTP API, without a trailing slash. */
  readonly url: string;
  readonly key: string;
  /** Address and port where it answers queries, as accepted by a resolver's `setServers`. */
  readonly address: string;
}

export const tsigKeyForm = "[hmac-sha256:|hmac-sha512:]NAME:BASE64";
export const tsigKeyPattern =
  "^(?:hmac-sha(?:256|512):)?(?=.{1,253}:)[a-z0-9_-]{1,63}(?:\\.[a-z0-9_-]{1,63})*:[A-Za-z0-9+/]{22,}={0,2}$";

/** Parses a text that matches `tsigKeyPattern`. */
export function parseTsigKey(text: string): TsigKey {
  const [secret = "", name = "", algorithm] = text.split(":").toReversed();
  return { name, secret, algorithm: algorithm === "hmac-sha512" ? algorithm : "hmac-sha256" };
}

/** Whether the text is a list such as `192.0.2.53:53,[2001:db8::53]:53`. */
export function areSocketAddresses(text: string): boolean {
  return text.split(",").every(isSocketAddress);
}

/** Parses a valid address and port. */
export function parseSocketAddress(text: string): SocketAddress {
  const colon = text.lastIndexOf(":");
  return { address: text.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(text.slice(colon + 1)) };
}
