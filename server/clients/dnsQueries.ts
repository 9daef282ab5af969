/** Queries to a DNS server on its public port. */
import { Resolver } from "node:dns/promises";
import { DnsUnavailable } from "./dnsUnavailable.ts";

export interface DnsQueries {
  /** The zone's serial. */
  serialOf(zone: string): Promise<number>;
  /** The TXT records of the name; empty if there are none. */
  textsOf(name: string): Promise<readonly string[]>;
}

const noSuchRecord = new Set(["ENOTFOUND", "ENODATA"]);

/** `place` returns the address with port. Every method rejects with `DnsUnavailable` if there is no valid answer. */
export function makeDnsQueries(place: () => Promise<string>): DnsQueries {
  async function resolver(): Promise<Resolver> {
    const one = new Resolver({ timeout: 1_000, tries: 2 });
    one.setServers([await place()]);
    return one;
  }
  return {
    serialOf: async (zone) => {
      const one = await resolver();
      try {
        return (await one.resolveSoa(zone)).serial;
      } catch (cause) {
        throw new DnsUnavailable(`The DNS server does not answer for ${zone}`, { cause });
      }
    },
    textsOf: async (name) => {
      const one = await resolver();
      try {
        return (await one.resolveTxt(name)).map((parts) => parts.join(""));
      } catch (cause) {
        if (cause instanceof Error && "code" in cause && noSuchRecord.has(String(cause.code))) return [];
        throw new DnsUnavailable(`The DNS server does not answer for ${name}`, { cause });
      }
    },
  };
}
