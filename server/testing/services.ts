/**
 * Creates the services of operations from a plain description of a world, in the test's process or in one that is
 * killed.
 */

import { join } from "node:path";
import { removeTree } from "@sitewright/runtimes/folders.ts";
import type { EnvironmentRuntime, Runtime } from "@sitewright/runtimes/runtime.ts";
import { openArchives } from "../archives/archives.ts";
import { openDownloads } from "../archives/downloads.ts";
import { openFolderBlobs } from "../archives/folderBlobs.ts";
import { namingFailures } from "../archives/namedFailures.ts";
import { makeDnsClient } from "../clients/dnsClient.ts";
import { makeEdgeClient } from "../clients/edgeClient.ts";
import { fixedKeys } from "../keyFile.ts";
import { makeLoadCandidate } from "../operations/steps/loadCandidate.ts";
import { makeProbe } from "../operations/steps/probe.ts";
import type { Services } from "../operations/steps/services.ts";
import { makeRunTrial } from "../operations/steps/trial.ts";
import { openPackageSource } from "../packages/source.ts";
import { makePublisher } from "../publishing/publishRoutes.ts";
import { makeZonePublisher } from "../publishing/publishZones.ts";
import { noTransfers } from "../publishing/zoneTable.ts";
import { makeScreenshots } from "../screenshots/screenshots.ts";
import { makeSealer } from "../sealing.ts";
import { piecesFor } from "../store/backups/pieces.ts";
import type { Database } from "../store/database.ts";
import { silentLog } from "./engine.ts";

export interface WorldFacts {
  readonly databaseUrl: string;
  readonly dataFolder: string;
  readonly edgeSocket: string;
  readonly edgePort: number;
  readonly dnsSocket: string;
  /** URL of a mirror of the zips in the folder `packages` of the data folder. */
  readonly packageSource: string;
  /** Path of Chromium. Screenshots are stored in the folder `pictures` of the data folder. Absent: no screenshots. */
  readonly chromium?: string;
  /** How many processes may die of a step before it is given up. Absent: 3. */
  readonly maxAttempts?: number;
}

/** A runtime that another process can create too: module, factory, and the factory's options. */
export interface RuntimeParameter {
  readonly module: string;
  readonly factory: string;
  readonly options: unknown;
}

export async function makeRuntime({ module, factory, options }: RuntimeParameter): Promise<Runtime> {
  const exports: Record<string, (options: unknown) => Runtime> = await import(module);
  const make = exports[factory];
  if (!make) throw new Error(`${module} has no ${factory}`);
  return make(options);
}

const archiveKey = Buffer.alloc(32, "of every world");

export function servicesOf(facts: WorldFacts, database: Database, runtime: EnvironmentRuntime): Services {
  const { chromium } = facts;
  const edge = makeEdgeClient(facts.edgeSocket);
  const dns = makeDnsClient(facts.dnsSocket, "127.0.0.1");
  const sealer = makeSealer(archiveKey);
  return {
    dns,
    zones: makeZonePublisher({
      database,
      dns,
      dataFolder: facts.dataFolder,
      transfers: () => noTransfers,
      names: { dnsNames: ["ns1.localhost"], siteSuffix: "localhost" },
      edgeAddresses: ["203.0.113.7"],
      log: silentLog,
    }),
    database,
    runtime,
    publisher: makePublisher({ database, runtime, edge, dataFolder: facts.dataFolder, sealer, log: silentLog }),
    probe: makeProbe({ http: facts.edgePort, tls: null }),
    runTrial: makeRunTrial(edge),
    loadForBrowser: makeLoadCandidate(edge),
    screenshots:
      chromium === undefined ? null : makeScreenshots({ chromium, folder: join(facts.dataFolder, "pictures") }),
    waitForWrites: (environmentId, signal) => edge.settle(environmentId, signal),
    purge: (order, signal) => edge.purge(order, signal),
    archives: openArchives({
      blobs: namingFailures(openFolderBlobs(join(facts.dataFolder, "archives"))),
      keys: fixedKeys(archiveKey),
      indexOf: (backup) => piecesFor(database, backup),
      work: join(facts.dataFolder, "work"),
      removeFolder: removeTree,
    }),
    backupDays: { manual: 14, scheduled: 14, "system-generated": 14 },
    restorableDays: 14,
    fullBackupDays: 7,
    archiveReadDays: 7,
    diskQuotaBytes: null,
    downloads: openDownloads(join(facts.dataFolder, "downloads")),
    downloadHours: 72,
    packageSource: openPackageSource(facts.packageSource),
    sealer,
    wpCliSeconds: 60,
  };
}
