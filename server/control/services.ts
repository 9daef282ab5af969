/** The services that operations, reconcilers and the API share. */
import { join } from "node:path";
import type { EnvironmentRuntime } from "@sitewright/runtimes/runtime.ts";
import type { Logger } from "pino";
import { openDownloads } from "../archives/downloads.ts";
import { type DnsClient, makeDnsClient } from "../clients/dnsClient.ts";
import { type EdgeClient, makeEdgeClient } from "../clients/edgeClient.ts";
import { makePowerDnsClient } from "../clients/powerDnsClient.ts";
import { transfersOf } from "../dnsTransfers.ts";
import { makeLoadCandidate } from "../operations/steps/loadCandidate.ts";
import { makeProbe } from "../operations/steps/probe.ts";
import type { Services } from "../operations/steps/services.ts";
import { makeRunTrial } from "../operations/steps/trial.ts";
import { openPackageSource } from "../packages/source.ts";
import { makePublisher } from "../publishing/publishRoutes.ts";
import { makeZonePublisher, type ZonePublisher } from "../publishing/publishZones.ts";
import { noTransfers } from "../publishing/zoneTable.ts";
import { findChromium } from "../screenshots/chromium.ts";
import { makeScreenshots } from "../screenshots/screenshots.ts";
import type { Sealer } from "../sealing.ts";
import type { Config } from "../settings/config.ts";
import type { Database } from "../store/database.ts";
import { type ArchiveStore, openArchiveStore } from "./archiveStore.ts";

/** The services of operations, and those that only reconcilers and the API use. */
export interface ControlServices extends Services {
  readonly edge: EdgeClient;
  readonly dns: DnsClient;
  readonly zones: ZonePublisher;
  readonly checkArchive: ArchiveStore["check"];
}

interface ControlServicesOptions {
  readonly config: Config;
  readonly database: Database;
  readonly runtime: EnvironmentRuntime;
  readonly sealer: Sealer;
  readonly log: Logger;
}

/** Opens the archives. All other services connect on first use. */
export async function makeControlServices(options: ControlServicesOptions): Promise<ControlServices> {
  const { config, database, runtime, sealer, log } = options;
  const edge = makeEdgeClient(join(config.run, "edge.sock"));
  const dns = dnsClientOf(config, log);
  const { archives, check } = await openArchiveStore(config, database, log);
  const chromium = config.chromium === "none" ? null : await findChromium(config.chromium);
  const { backupDays, restorableDays, fullBackupDays, archiveReadDays, diskQuotaBytes, downloadHours, wpCliSeconds } =
    config;
  return {
    ...{ backupDays, restorableDays, fullBackupDays, archiveReadDays, diskQuotaBytes, downloadHours, wpCliSeconds },
    database,
    runtime,
    sealer,
    edge,
    dns,
    archives,
    checkArchive: check,
    downloads: openDownloads(config.downloads),
    publisher: makePublisher({ database, runtime, edge, dataFolder: config.data, diskQuotaBytes, sealer, log }),
    zones: makeZonePublisher({
      database,
      dns,
      dataFolder: config.data,
      names: config,
      transfers: () => (config.dnsSecondaries === null ? noTransfers : transfersOf(config.dnsSecondaries, sealer)),
      edgeAddresses: config.edgeAddresses,
      log,
    }),
    probe: makeProbe({ http: config.edgePort, tls: config.edgeTlsPort }),
    runTrial: makeRunTrial(edge),
    loadForBrowser: makeLoadCandidate(edge),
    screenshots: chromium === null ? null : makeScreenshots({ chromium, folder: config.screenshots }),
    waitForWrites: (environmentId, signal) => edge.settle(environmentId, signal),
    purge: (order, signal) => edge.purge(order, signal),
    packageSource: config.wporgUrl === null ? null : openPackageSource(config.wporgUrl),
  };
}

function dnsClientOf({ powerDns, run, host, siteSuffix }: Config, log: Logger): DnsClient {
  if (powerDns === null) return makeDnsClient(join(run, "dns.sock"), host);
  return makePowerDnsClient(powerDns, { mark: `acme-challenge.${siteSuffix}`, log });
}
