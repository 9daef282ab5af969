/**
 * The control process: the API, the operations and the reconcilers, put together. Everything that it needs from
 * outside is in its settings; PostgreSQL is up, and the runtime was prepared.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "@sitewright/runtimes/folders.ts";
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import type { FastifyInstance } from "fastify";
import { type Logger, pino } from "pino";
import { makeDownloadTokens } from "./app/backups/downloadTokens.ts";
import { ensureFirstCompany, type NewCompany, UnusableCompany } from "./app/company/companies.ts";
import { addressOf } from "./app/sites/addresses.ts";
import { openArchives } from "./archives/archives.ts";
import { openDownloads } from "./archives/downloads.ts";
import { guardBlobs, mayMakeKey } from "./archives/guardedBlobs.ts";
import { openBlobs } from "./archives/openBlobs.ts";
import { makeDnsClient } from "./clients/dnsClient.ts";
import { makeEdgeClient } from "./clients/edgeClient.ts";
import { makePowerDnsClient } from "./clients/powerDnsClient.ts";
import { makeLookUp } from "./domains/lookUp.ts";
import { addressesOf, type FirstRun, refreshFirstRun, writeFirstRun } from "./firstRun.ts";
import { buildServer } from "./http/server.ts";
import { openLogs } from "./logs/logs.ts";
import { type Deliver, makeDeliver } from "./mail/deliver.ts";
import { openSpool } from "./mail/spool.ts";
import { operationDefinitions } from "./operations/definitions.ts";
import { makeAcceptOperation } from "./operations/engine/accept.ts";
import { type Engine, startEngine } from "./operations/engine/engine.ts";
import { makeWaitForOperation } from "./operations/engine/wait.ts";
import { makeProbe } from "./operations/steps/probe.ts";
import { makeSeeCandidate } from "./operations/steps/seeCandidate.ts";
import { makeSiteTasks } from "./operations/steps/siteTasks.ts";
import { makeTryOut } from "./operations/steps/trial.ts";
import { openPackageSource } from "./packages/source.ts";
import { CannotStart, runPart } from "./part.ts";
import { periodicWork } from "./periodicWork.ts";
import { findChromium } from "./pictures/chromium.ts";
import { makePictures, openPictureStore } from "./pictures/pictures.ts";
import { publishPatiently } from "./publishing/publishPatiently.ts";
import { makePublisher } from "./publishing/publishRoutes.ts";
import { makeZonePublisher } from "./publishing/publishZones.ts";
import { noTransfers } from "./publishing/zoneTable.ts";
import { makeCron } from "./reconcilers/cron/runCron.ts";
import { makeReadPackages } from "./reconcilers/readPackages.ts";
import { startReconcilers } from "./reconcilers/schedule.ts";
import { openKey, openSealer, readKey } from "./sealing.ts";
import { isPlaceThere, nameOfPlace, parseArchiveUrl } from "./settings/archiveUrl.ts";
import { type Config, loadConfig } from "./settings/config.ts";
import { transfersOf } from "./settings/dnsSettings.ts";
import { parseSmtpUrl, SmtpUrlError } from "./settings/smtpUrl.ts";
import { storeMemory } from "./store/backups/archiveStore.ts";
import { makeBackupLists } from "./store/backups/backupList.ts";
import { piecesFor } from "./store/backups/pieces.ts";
import { migrate } from "./store/migrate.ts";
import { openNotifications } from "./store/notifications.ts";
import { type OpenDatabase, openDatabase } from "./store/open.ts";
import { acceptedChannel, endedChannel } from "./store/operations.ts";
import { makeCompanyPackageLists } from "./store/packages/companyPackages.ts";

export interface Control {
  /** Where the API answers: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The facts of the first run, where this start made them. */
  readonly firstRun: FirstRun | null;
  /** Resolves when this process can't go on and must be replaced by another. */
  readonly lost: Promise<Error>;
  /** Answers what is being asked, and leaves running operations to the next process. */
  stop(): Promise<void>;
}

export interface ControlOptions {
  readonly config: Config;
  readonly runtime: Runtime;
  readonly log: Logger;
}

/** Resolves when the API answers and operations run. */
export async function startControl({ config, runtime, log }: ControlOptions): Promise<Control> {
  const url = config.databaseUrl;
  if (url === null)
    throw new CannotStart("DATABASE_URL must be set: the control process does not start PostgreSQL itself");
  await using started = new AsyncDisposableStack();
  const onConnectionLost = (err: Error) => log.warn({ err }, "A connection to the database was lost");
  const opened = openDatabase(url, { onConnectionLost });
  started.defer(() => opened.close());
  await migrate(opened.pool);
  const notifications = await openNotifications({ url, channels: [acceptedChannel, endedChannel], onConnectionLost });
  started.defer(() => notifications.close());

  const { database } = opened;
  const sealer = await openSealer(join(config.data, "secrets", "key"));
  const edge = makeEdgeClient(join(config.run, "edge.sock"));
  const publisher = makePublisher({
    database,
    runtime,
    edge,
    dataFolder: config.data,
    diskQuotaBytes: config.diskQuotaBytes,
    sealer,
    log,
  });
  const dns =
    config.powerDns === null
      ? makeDnsClient(join(config.run, "dns.sock"), config.host)
      : makePowerDnsClient(config.powerDns, { mark: `acme-challenge.${config.siteSuffix}`, log });
  const zones = makeZonePublisher({
    database,
    dns,
    dataFolder: config.data,
    names: config,
    transfers: config.dnsSecondaries === null ? noTransfers : transfersOf(config.dnsSecondaries, sealer),
    edgeAddresses: config.edgeAddresses,
    log,
  });
  const probe = makeProbe({ http: config.edgePort, tls: config.edgeTlsPort });
  const place = parseArchiveUrl(config.archiveUrl, config.archives);
  const memory = storeMemory(database);
  const where = {
    // The data folder may be moved, with what is in it.
    place: config.archiveUrl === null ? "archives in the data folder" : nameOfPlace(place),
    isThere: () => isPlaceThere(place),
  };
  const keyFile = join(config.data, "secrets", "archive-key");
  const archiveKey = (await mayMakeKey(memory, where)) ? await openKey(keyFile) : await readKey(keyFile);
  const blobs = guardBlobs({
    ...where,
    blobs: await openBlobs(place),
    memory,
    key: archiveKey,
    onNewStore: (sentence) => log.warn(sentence),
  });
  const archives = openArchives({
    blobs,
    // Where it is missing, nothing that is sealed with another one is taken.
    key: archiveKey ?? randomBytes(32),
    indexOf: (backup) => piecesFor(database, backup),
    work: join(config.data, "work"),
    removeFolder: removeTree,
  });
  const downloads = openDownloads(config.downloads);
  const logs = openLogs(config.environmentLogs);
  const packageSource = config.wporgUrl === null ? null : openPackageSource(config.wporgUrl);
  const chromium = config.chromium === "none" ? null : await findChromium(config.chromium);
  const definitions = operationDefinitions({
    database,
    runtime,
    publisher,
    zones,
    dns,
    probe,
    tryOut: makeTryOut(edge),
    see: makeSeeCandidate(edge),
    pictures: chromium === null ? null : makePictures({ chromium, folder: config.pictures }),
    settle: (environmentId, signal) => edge.settle(environmentId, signal),
    purge: (order, signal) => edge.purge(order, signal),
    archives,
    backupDays: config.backupDays,
    undeleteDays: config.undeleteDays,
    fullBackupDays: config.fullBackupDays,
    archiveReadDays: config.archiveReadDays,
    diskQuotaBytes: config.diskQuotaBytes,
    downloads,
    packageSource,
    downloadHours: config.downloadHours,
    sealer,
    wpCliSeconds: config.wpCliSeconds,
  });
  const firstRun = await prepareFirstRun(opened, config);

  const engine = await startEngine({
    url,
    database,
    notifications,
    sealer,
    definitions: Object.values(definitions),
    log,
  });
  started.defer(() => engine.stop());
  const capabilities = await runtime.capabilities();
  const lookUp = makeLookUp(config.resolver);
  const acceptOperation = makeAcceptOperation({ sealer, definitions });
  const cron = makeCron({
    database,
    runtime,
    edge,
    hostOf: (place) => new URL(addressOf(config, place)).host,
    atOnce: config.cronRuns,
    log,
  });
  const stopping = new AbortController();
  const reconcilers = startReconcilers(
    periodicWork({
      database,
      publisher,
      zones,
      dns,
      edge,
      runtime,
      cron,
      archives,
      downloads,
      logs,
      acceptOperation,
      config,
      phpVersions: capabilities.phpVersions,
      spool: openSpool(config.mailSpool),
      deliver: makeMailDelivery(config),
      onBrokenMail: ({ id, environmentId }) =>
        log.error(
          { mail: id, environment: environmentId },
          "A message in the mail folder can't be read; it stays there",
        ),
      signal: stopping.signal,
      checkArchive: blobs.check,
      lookUp,
      packageSource,
      sealer,
      acmeRoots: await readAcmeRoots(config),
      log,
    }),
    log,
  );
  started.defer(() => reconcilers.stop());
  started.defer(() => cron.stop());
  started.defer(() => stopping.abort());

  const server = buildServer({
    app: {
      settings: config,
      limits: config,
      capabilities,
      listFiles: (environment) => runtime.listFiles(environment),
      readLog: logs.read,
      publishRoutes: () => publishPatiently(publisher),
      readPackages: makeReadPackages({ database, runtime }),
      plannedEvents: (environment, signal) => runtime.plannedEvents(environment, signal),
      findUser: (environment, email) => runtime.findUser(environment, email),
      hasBrowser: chromium !== null,
      findPictures: openPictureStore(config.pictures).find,
      siteTasks: makeSiteTasks(edge),
      packageSource,
      lookUp,
      pool: opened.pool,
      backupLists: makeBackupLists(opened.pool),
      companyPackages: makeCompanyPackageLists(opened.pool),
      database,
      acceptOperation,
      waitForOperation: makeWaitForOperation({ database, notifications }),
      downloadTokens: makeDownloadTokens(await openKey(join(config.data, "secrets", "key"))),
      downloadHours: config.downloadHours,
      sealer,
      openDownload: (id) => downloads.open(id),
      acmeUrl: config.acmeUrl,
      hasMailServer: config.smtpUrl !== null,
      hasAdvisories: config.advisories !== null,
      knowsPlaces: config.geoip !== null,
    },
    limits: config,
    metricsToken: config.metricsToken,
    log,
  });
  started.defer(() => server.close());
  const address = await listen(server, config);
  return keep(started.move(), { url: address, firstRun, engine });
}

/** Null: the usual ones. */
async function readAcmeRoots({ acmeCaFile }: Config): Promise<readonly string[] | null> {
  if (acmeCaFile === null) return null;
  const text = await readFile(acmeCaFile, "utf8").catch((cause: unknown) => {
    throw new CannotStart(
      `SITEWRIGHT_ACME_CA_FILE=${acmeCaFile} can't be read. Name a file with certificates in PEM.`,
      {
        cause,
      },
    );
  });
  return [text];
}

/** Null where there is no mail server. */
function makeMailDelivery({ smtpUrl, siteSuffix }: Config): Deliver | null {
  try {
    return smtpUrl === null ? null : makeDeliver({ place: parseSmtpUrl(smtpUrl), name: siteSuffix });
  } catch (error) {
    if (error instanceof SmtpUrlError) throw new CannotStart(`SITEWRIGHT_SMTP_URL: ${error.message}`);
    throw error;
  }
}

function keep(
  started: AsyncDisposableStack,
  { url, firstRun, engine }: { readonly url: string; readonly firstRun: FirstRun | null; readonly engine: Engine },
): Control {
  return { url, firstRun, lost: engine.lost, stop: () => started.disposeAsync() };
}

async function listen(server: FastifyInstance, config: Config): Promise<string> {
  try {
    return await server.listen({ host: config.host, port: config.controlPort });
  } catch (cause) {
    const isTaken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
    if (!isTaken) throw cause;
    const message = `Port ${config.controlPort} is in use. Choose another with SITEWRIGHT_CONTROL_PORT.`;
    throw new CannotStart(message, { cause });
  }
}

/** The facts are on disk before the company is committed: nobody is left with a company that has no known key. */
async function prepareFirstRun({ database }: OpenDatabase, config: Config): Promise<FirstRun | null> {
  const addresses = addressesOf(config);
  const keepFacts = (facts: NewCompany) => writeFirstRun(config.data, { ...addresses, ...facts });
  const company = await ensureFirstCompany(database, config.firstApiKey, keepFacts).catch((cause: unknown) => {
    throw cause instanceof UnusableCompany ? new CannotStart(cause.message, { cause }) : cause;
  });
  if (company) return { ...addresses, ...company };
  await refreshFirstRun(config.data, addresses);
  return null;
}

/** The process itself: reads the settings, runs until it is told to stop, ends. */
export async function runControl(makeRuntime: (config: Config, log: Logger) => Runtime): Promise<void> {
  await runPart(async () => {
    const config = loadConfig(process.env);
    const log = pino({ level: config.logLevel, base: undefined });
    return startControl({ config, runtime: makeRuntime(config, log), log });
  });
}
