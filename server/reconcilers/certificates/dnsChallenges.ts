/** Shows certificate authorities what they ask to see in DNS. */
import { setTimeout as delay } from "node:timers/promises";
import type { DnsClient } from "../../clients/dnsClient.ts";
import { DnsUnavailable } from "../../clients/dnsUnavailable.ts";
import type { ZonePublisher } from "../../publishing/publishZones.ts";
import type { Database } from "../../store/database.ts";
import { addDnsChallenge, removeDnsChallenge } from "../../store/domains/dnsChallenges.ts";

export interface DnsChallenges {
  /** Resolves when the running server answers it. Rejects with `DnsUnavailable` if it did not within ten seconds. */
  publish(name: string, value: string): Promise<void>;
  /** Tolerates that it is gone. */
  remove(name: string, value: string): Promise<void>;
}

export interface DnsChallengesOptions {
  readonly database: Database;
  readonly zones: Pick<ZonePublisher, "publish">;
  readonly dns: Pick<DnsClient, "textsOf">;
}

/** Longer than any order takes. */
const shownSeconds = 86_400;
const patienceMilliseconds = 10_000;
const pauseMilliseconds = 100;

export function makeDnsChallenges({ database, zones, dns }: DnsChallengesOptions): DnsChallenges {
  const nameOf = (text: string) => text.replace(/\.$/, "").toLowerCase();

  async function answers(name: string, value: string): Promise<boolean> {
    try {
      await zones.publish();
      return (await dns.textsOf(name)).includes(value);
    } catch (error) {
      if (error instanceof DnsUnavailable) return false;
      throw error;
    }
  }

  return {
    publish: async (text, value) => {
      const name = nameOf(text);
      await addDnsChallenge(database, { name, value }, shownSeconds);
      const until = performance.now() + patienceMilliseconds;
      while (!(await answers(name, value))) {
        if (performance.now() > until)
          throw new DnsUnavailable(`The DNS server does not answer ${name} with the challenge`);
        await delay(pauseMilliseconds);
      }
    },
    remove: async (text, value) => {
      await removeDnsChallenge(database, { name: nameOf(text), value });
      // Where the server is away, the reconciler tells it.
      await zones.publish().catch((error: unknown) => {
        if (!(error instanceof DnsUnavailable)) throw error;
      });
    },
  };
}
