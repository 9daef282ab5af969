/** Publishes dns-01 challenges in the installation's DNS. */
import { setTimeout as delay } from "node:timers/promises";
import type { DnsClient } from "../../clients/dnsClient.ts";
import { DnsUnavailable } from "../../clients/dnsUnavailable.ts";
import type { ZonePublisher } from "../../publishing/publishZones.ts";
import type { Database } from "../../store/database.ts";
import { addDnsChallenge, removeDnsChallenge } from "../../store/domains/dnsChallenges.ts";

export interface DnsChallenges {
  /** Resolves when the DNS server answers with the challenge. Rejects with `DnsUnavailable` if it does not in time. */
  publish(name: string, value: string): Promise<void>;
  /** Does nothing if there is no such challenge. */
  remove(name: string, value: string): Promise<void>;
}

interface DnsChallengesOptions {
  readonly database: Database;
  readonly zones: Pick<ZonePublisher, "publish">;
  readonly dns: Pick<DnsClient, "textsOf">;
  /** How long to wait for the DNS server. Absent: ten seconds. */
  readonly timeoutMilliseconds?: number;
}

/** Longer than any order takes. */
const lifetimeSeconds = 86_400;
const defaultTimeoutMilliseconds = 10_000;
const pauseMilliseconds = 100;

export function makeDnsChallenges(options: DnsChallengesOptions): DnsChallenges {
  const { database, zones, dns, timeoutMilliseconds = defaultTimeoutMilliseconds } = options;
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
      await addDnsChallenge(database, { name, value }, lifetimeSeconds);
      const deadline = performance.now() + timeoutMilliseconds;
      while (!(await answers(name, value))) {
        if (performance.now() > deadline)
          throw new DnsUnavailable(`The DNS server does not answer ${name} with the challenge`);
        await delay(pauseMilliseconds);
      }
    },
    remove: async (text, value) => {
      await removeDnsChallenge(database, { name: nameOf(text), value });
      // If the server is down, the reconciler publishes the change later.
      await zones.publish().catch((error: unknown) => {
        if (!(error instanceof DnsUnavailable)) throw error;
      });
    },
  };
}
