/** Publishes all zones to the DNS server (see `tablePublisher.ts`), and creates the zones that domains need. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { DnsTable, DnsZone } from "@sitewright/dns/table.ts";
import { writeTable } from "@sitewright/dns/tableText.ts";
import type { Logger } from "pino";
import type { DnsClient } from "../clients/dnsClient.ts";
import { readDomainName } from "../domains/names.ts";
import type { DnsNames } from "../domains/servedZone.ts";
import { firstRecords } from "../domains/zoneRecords.ts";
import { writeDurableFile } from "../durableFile.ts";
import type { Database } from "../store/database.ts";
import { listDnsChallenges, removeExpiredDnsChallenges } from "../store/domains/dnsChallenges.ts";
import { forgetServedZones, nextSerials } from "../store/domains/servedZones.ts";
import {
  ensureZone,
  listDomainsInZones,
  listDomainsWithoutZone,
  listZones,
  putIntoZone,
  removeEmptyZones,
} from "../store/domains/zones.ts";
import { dnsGenerations } from "../store/generations.ts";
import { mergeZones } from "./mergeZones.ts";
import { makeTablePublisher, type TablePublisher } from "./tablePublisher.ts";
import { type Transfers, zoneTable } from "./zoneTable.ts";

/**
 * Rejects with `DnsUnavailable` if the server did not acknowledge the table. `reconcile` also creates missing zones and
 * removes unused ones.
 */
export type ZonePublisher = TablePublisher;

interface ZonePublisherOptions {
  readonly database: Database;
  readonly dns: Pick<DnsClient, "putTable" | "status">;
  /** The table is also written to `dns/table.jsonl` in this folder. */
  readonly dataFolder: string;
  readonly names: DnsNames;
  /** Called for each table, since the sealing key may change. */
  readonly transfers: () => Transfers;
  /** Public addresses of the edge, to which new zones point. */
  readonly edgeAddresses: readonly string[];
  readonly log: Logger;
}

const zonesPerRun = 100;

export function zonesFile(dataFolder: string): string {
  return join(dataFolder, "dns", "table.jsonl");
}

export function makeZonePublisher(options: ZonePublisherOptions): ZonePublisher {
  const { database, dns, log, names, transfers } = options;

  async function send(generation: number): Promise<void> {
    await ensureZone(database, null, `acme-challenge.${names.siteSuffix}`);
    const zones = mergeZones(await listZones(database), await listDomainsInZones(database, null));
    const challenges = await listDnsChallenges(database);
    const table = await withSerials(
      database,
      zoneTable(generation, { zones, challenges }, { names, transfers: transfers() }),
    );
    await writeDurableFile(zonesFile(options.dataFolder), writeTable(table));
    await dns.putTable(table);
  }

  const { status } = dns;
  const publisher = makeTablePublisher({
    database,
    generations: dnsGenerations,
    status,
    send,
    server: "The DNS server",
    log,
  });
  return {
    publish: publisher.publish,
    reconcile: async () => {
      await updateZones(options);
      await removeExpiredDnsChallenges(database);
      await publisher.reconcile();
    },
  };
}

/** Raises the serials of zones whose content has changed since the last table. */
async function withSerials(database: Database, table: DnsTable): Promise<DnsTable> {
  const digests = table.zones.map((zone) => ({ ...zone, digest: digestOf(zone) }));
  const serials = await nextSerials(database, digests);
  const zones = table.zones.map((zone) => ({ ...zone, serial: serials.get(zone.name) ?? zone.serial }));
  return { ...table, zones };
}

function digestOf({ serial: _, ...content }: DnsZone): string {
  return createHash("sha256").update(JSON.stringify(content)).digest("hex");
}

/** A domain may have no zone if it is older than zones, or was deleted before zones were kept and then restored. */
async function updateZones({ database, edgeAddresses }: ZonePublisherOptions): Promise<void> {
  const zoneless = await listDomainsWithoutZone(database, zonesPerRun);
  for (const domain of zoneless) {
    await database.transaction().execute(async (transaction) => {
      const { registrable } = readDomainName(domain.name);
      await putIntoZone(transaction, domain, registrable, firstRecords(domain, edgeAddresses));
      await dnsGenerations.announce(transaction);
    });
  }
  await database.transaction().execute(async (transaction) => {
    if ((await removeEmptyZones(transaction)) > 0) await dnsGenerations.announce(transaction);
  });
  await forgetServedZones(database);
}
