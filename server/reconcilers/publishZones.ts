/**
 * Tells the DNS server the whole of what it should answer. Takes no input, as `publishRoutes` does: any number of calls, by any
 * number of processes, end with the server answering what is in the database.
 */
import { join } from "node:path";
import type { Logger } from "pino";
import { readDomainName } from "../domains/names.ts";
import { firstRecords } from "../domains/zoneRecords.ts";
import { writeDurableFile } from "../durableFile.ts";
import type { Database } from "../store/database.ts";
import { listDnsChallenges, removeExpiredDnsChallenges } from "../store/dnsChallenges.ts";
import {
  announceZones,
  awaitAnnouncedZones,
  lastZonesGeneration,
  nextZonesGeneration,
  raiseZonesGeneration,
} from "../store/zoneGenerations.ts";
import { ensureZone, listServedZones, listZoneless, putIntoZone, removeEmptyZones } from "../store/zones.ts";
import type { DnsClient } from "./dnsClient.ts";
import { type DnsNames, zoneTable } from "./zoneTable.ts";

export interface ZonePublisher {
  /** Resolves when the DNS server has what was in the database when this was called. Rejects with `DnsUnavailable`. */
  publish(): Promise<void>;
  /** Makes the zones that domains need, removes those that none needs, and publishes where the server has something older. */
  reconcile(): Promise<void>;
}

export interface ZonePublisherOptions {
  readonly database: Database;
  readonly dns: Pick<DnsClient, "putTable" | "status">;
  /** The data folder; the table is kept in `dns/table.json` below it. */
  readonly dataFolder: string;
  readonly names: DnsNames;
  /** Public addresses of the edge, that new zones point to. */
  readonly edgeAddresses: readonly string[];
  readonly log: Logger;
}

const atOnce = 100;

export function zonesFile(dataFolder: string): string {
  return join(dataFolder, "dns", "table.json");
}

export function makeZonePublisher(options: ZonePublisherOptions): ZonePublisher {
  const { database, dns, log, names } = options;
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let hasPublished = false;

  /** One at a time; all who ask while one runs share the next, which reads after they asked. */
  function publish(): Promise<void> {
    if (next) return next;
    if (!current) return start();
    next = current.then(start, start);
    return next;
  }

  function start(): Promise<void> {
    next = undefined;
    const run = publishOnce().finally(() => {
      if (current === run) current = undefined;
    });
    current = run;
    return run;
  }

  async function publishOnce(): Promise<void> {
    await ensureZone(database, null, `acme-challenge.${names.siteSuffix}`);
    const generation = await nextZonesGeneration(database);
    await awaitAnnouncedZones(database);
    const zones = await listServedZones(database);
    const table = zoneTable(generation, { zones, challenges: await listDnsChallenges(database) }, names);
    await writeDurableFile(zonesFile(options.dataFolder), JSON.stringify(table));
    await dns.putTable(table);
    hasPublished = true;
  }

  return {
    publish,
    reconcile: async () => {
      const changed = (await keepZones(options)) + (await removeExpiredDnsChallenges(database));
      const wanted = await lastZonesGeneration(database);
      const { generation } = await dns.status();
      if (changed === 0 && hasPublished && generation === wanted) return;
      if (generation > wanted) await raiseZonesGeneration(database, generation);
      log.info({ wanted, serves: generation }, "The DNS server may not have the newest zones; it is told them again");
      await publish();
    },
  };
}

/** Domains may have come back with what was deleted, or from before there were zones. Gives how much was done. */
async function keepZones({ database, edgeAddresses }: ZonePublisherOptions): Promise<number> {
  const zoneless = await listZoneless(database, atOnce);
  for (const domain of zoneless) {
    await database.transaction().execute(async (transaction) => {
      const { registrable } = readDomainName(domain.name);
      await putIntoZone(transaction, domain, registrable, firstRecords(domain, edgeAddresses));
      await announceZones(transaction);
    });
  }
  return zoneless.length + (await removeEmptyZones(database));
}
