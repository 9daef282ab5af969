/** What settings say about DNS: the servers that copy our zones, their key, and a server that answers instead of ours. */

import type { Sealer } from "../sealing.ts";
import { isResolver } from "./edgeAddresses.ts";

/** An address and a port. */
export interface DnsPlace {
  readonly address: string;
  readonly port: number;
}

/** As `dig -y` takes it, too. */
export interface TsigKey {
  readonly name: string;
  readonly algorithm: "hmac-sha256" | "hmac-sha512";
  /** Base64. */
  readonly secret: string;
}

export interface DnsSecondaries {
  readonly places: readonly DnsPlace[];
  readonly key: TsigKey;
}

export interface PowerDnsPlace {
  /** Of its HTTP API, without a slash at the end. */
  readonly url: string;
  readonly key: string;
  /** Where it answers questions: address and port, as `setServers` of a resolver takes them. */
  readonly address: string;
}

export const tsigKeyForm = "[hmac-sha256:|hmac-sha512:]NAME:BASE64";
export const tsigKeyPattern =
  "^(?:hmac-sha(?:256|512):)?(?=.{1,253}:)[a-z0-9_-]{1,63}(?:\\.[a-z0-9_-]{1,63})*:[A-Za-z0-9+/]{22,}={0,2}$";

/** The key as it is sent to the DNS server: encrypted with the installation's sealing key. */
export function transfersOf({ places, key }: DnsSecondaries, sealer: Sealer) {
  const { name, algorithm, secret } = key;
  const sealedSecret = sealer.seal(secret, dnsKeyContext(name)).toString("base64");
  return {
    secondaries: places.map((place) => ({ ...place, key: name })),
    keys: [{ name, algorithm, sealedSecret }],
  };
}

/** What a key's secret is sealed for. */
export function dnsKeyContext(name: string): string {
  return `dns key:${name}`;
}

/** Fits `tsigKeyPattern`. */
export function parseTsigKey(text: string): TsigKey {
  const [secret = "", name = "", algorithm] = text.split(":").toReversed();
  return { name, secret, algorithm: algorithm === "hmac-sha512" ? algorithm : "hmac-sha256" };
}

/** `192.0.2.53:53,[2001:db8::53]:53`. */
export function arePlaces(text: string): boolean {
  return text.split(",").every(isResolver);
}

/** Of what `arePlaces`. */
export function parsePlace(text: string): DnsPlace {
  const colon = text.lastIndexOf(":");
  return { address: text.slice(0, colon).replace(/^\[|\]$/g, ""), port: Number(text.slice(colon + 1)) };
}
