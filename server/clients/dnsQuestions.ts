/** Asks a DNS server as everybody asks it. */
import { Resolver } from "node:dns/promises";
import { DnsUnavailable } from "./dnsUnavailable.ts";

export interface DnsQuestions {
  /** The serial that the running server answers for the zone. */
  serialOf(zone: string): Promise<number>;
  /** The texts that it answers for the name; none if there are none. */
  textsOf(name: string): Promise<readonly string[]>;
}

const noSuchRecord = new Set(["ENOTFOUND", "ENODATA"]);

/** `place` gives address and port. Every method rejects with `DnsUnavailable` if there is no proper answer. */
export function makeDnsQuestions(place: () => Promise<string>): DnsQuestions {
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
