/** Zone transfers to secondary servers: their part of the configuration of the DNS server. */
import type { Sealer } from "./sealing.ts";
import type { DnsSecondaries } from "./settings/dnsSettings.ts";

/** The secondaries and their key for the DNS server. The key is encrypted with the installation's sealing key. */
export function transfersOf({ addresses, key }: DnsSecondaries, sealer: Sealer) {
  const { name, algorithm, secret } = key;
  const sealedSecret = sealer.seal(secret, dnsKeyContext(name)).toString("base64");
  return {
    secondaries: addresses.map((address) => ({ ...address, key: name })),
    keys: [{ name, algorithm, sealedSecret }],
  };
}

/** The sealing context of a TSIG key's secret. */
export function dnsKeyContext(name: string): string {
  return `dns key:${name}`;
}
