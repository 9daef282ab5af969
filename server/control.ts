/**
 * The control process: the API, the operations and the reconcilers. PostgreSQL must be running, and the runtimes prepared.
 */
import { buildOf, consoleVersion, failureOf } from "@sitewright/console/build/version.ts";
import { createTrustedProxies } from "@sitewright/edge/http/trustedProxies.ts";
import { confinementProblem } from "@sitewright/runtimes/confinement.ts";
import type { Capabilities, Runtime } from "@sitewright/runtimes/runtime.ts";
import type { Runtimes } from "@sitewright/runtimes/severalRuntimes.ts";
import { createTurns } from "@sitewright/runtimes/turns.ts";
import type { FastifyInstance } from "fastify";
import { type Logger, pino } from "pino";
import { makeDownloadTokens } from "./app/backups/downloadTokens.ts";
import { makeEventFeeds } from "./app/company/eventFeeds.ts";
import { makeIdentities } from "./app/company/identities.ts";
import { type KeyUse, makeKeyUse } from "./app/company/keyUse.ts";
import { makeRefusedKeys } from "./app/company/refusedKeys.ts";
import { makeRepeatedActivity } from "./app/company/repeatedActivity.ts";
import type { App } from "./app/context.ts";
import { addressOf } from "./app/sites/addresses.ts";
import { moveSites } from "./app/sites/addressMoves.ts";
import { recordChangedSettings } from "./audit/changedSettings.ts";
import { compareBackups } from "./control/backupComparison.ts";
import { warnAboutConfinement } from "./control/confinementWarning.ts";
import { makeMailDelivery, readAcmeRoots } from "./control/externalServices.ts";
import { prepareFirstRun } from "./control/firstCompany.ts";
import { makeInstallationProbes } from "./control/installationProbes.ts";
import { periodicWork } from "./control/periodicWork.ts";
import { type OpenedRuntimes, openRuntimes } from "./control/runtimes.ts";
import { type ControlServices, makeControlServices } from "./control/services.ts";
import { makeLookUp } from "./domains/lookUp.ts";
import type { FirstRun } from "./firstRun.ts";
import type { ConsolePaths } from "./http/consoleFiles.ts";
import { listenForEdge } from "./http/edgeSocket.ts";
import { buildServer } from "./http/server.ts";
import { descriptorsOf, type InheritedSocket, takeInheritedSockets } from "./inheritedSockets.ts";
import { type KeySource, openKeySource } from "./keyFile.ts";
import { openLogs } from "./logs/logs.ts";
import { openSpool } from "./mail/spool.ts";
import { makeSignInProvider } from "./openid/signInProvider.ts";
import { operationDefinitions } from "./operations/definitions.ts";
import { makeAcceptOperation } from "./operations/engine/accept.ts";
import { graceFor, keepEngine } from "./operations/engine/keepEngine.ts";
import { makeOperationWaits } from "./operations/engine/wait.ts";
import { makeSiteTasks } from "./operations/steps/siteTasks.ts";
import { publishWithRetry } from "./publishing/publishWithRetry.ts";
import { makeCron } from "./reconcilers/cron/runCron.ts";
import { makeReadPackages } from "./reconcilers/readPackages.ts";
import { startReconcilers } from "./reconcilers/schedule.ts";
import { openScreenshotStore } from "./screenshots/screenshots.ts";
import { secretsKeyFile } from "./sealedSettings.ts";
import { sealerOf } from "./sealing.ts";
import { type Config, loadConfig } from "./settings/config.ts";
import { securityTxtOf } from "./settings/securityTxt.ts";
import { givenSettings } from "./settings/settingsFile.ts";
import { makeBackupLists } from "./store/backups/backupList.ts";
import { keysChangedChannel } from "./store/company/apiKeys.ts";
import { eventAddedChannel } from "./store/company/events.ts";
import { announceControlProcess, type ControlProcessCount, openControlProcessCount } from "./store/controlProcesses.ts";
import { migrate } from "./store/migrate.ts";
import { openNotifications } from "./store/notifications.ts";
import { type OpenDatabase, openDatabase } from "./store/open.ts";
import { acceptedChannel, endedChannel, makeOperationRead } from "./store/operations.ts";
import { makeCompanyPackageLists } from "./store/packages/companyPackages.ts";
import { countContent, makeSiteRead } from "./store/sites/sites.ts";
import { makeSnapshots } from "./store/snapshots.ts";
import { CannotStart, runSupervised } from "./supervisedProcess.ts";

/**
 * Loading modules takes seventy megabytes that V8 keeps as long as the process is idle. They are released this long
 * after the start, which is not delayed by it. Milliseconds.
 */
const releaseMemoryAfter = 10_000;

export interface Control {
  /** Base URL of the API: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Size of this installation. */
  readonly facts: { readonly sites: number; readonly environments: number };
  /** The credentials of the first company if this start created it, otherwise null. */
  readonly firstRun: FirstRun | null;
  /** Resolves when this process can't continue and must be replaced. */
  readonly lost: Promise<Error>;
  /** Finishes running requests. Running operations are left to the next process. */
  stop(): Promise<void>;
}

interface ControlOptions {
  /** Absent: the process opens its sockets. */
  readonly sockets?: readonly InheritedSocket[];
  /** The settings that were given, by name, to notice changes. Absent: not compared. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly config: Config;
  readonly runtimes: Runtimes<Runtime>;
  readonly log: Logger;
}

/** Resolves when the API is listening and operations run. */
export async function startControl({
  config,
  runtimes,
  log,
  settings,
  sockets = [],
}: ControlOptions): Promise<Control> {
  const url = config.databaseUrl;
  if (url === null)
    throw new CannotStart("DATABASE_URL must be set: the control process does not start PostgreSQL itself");
  await using started = new AsyncDisposableStack();
  const onConnectionLost = (err: Error) => log.warn({ err }, "A connection to the database was lost");
  const opened = openDatabase(url, { onConnectionLost });
  started.defer(() => opened.close());
  const { database } = opened;
  await migrate(opened.pool);
  const notifications = await openNotifications({
    url,
    channels: [acceptedChannel, endedChannel, keysChangedChannel, eventAddedChannel],
    onConnectionLost,
    onConnect: announceControlProcess,
  });
  started.defer(() => notifications.close());
  const processes = await openControlProcessCount(opened.pool);

  const secretKeys = await openKeySource(secretsKeyFile(config.data));
  const sealer = sealerOf(secretKeys);
  warnAboutConfinement(await confinementProblem(), log);
  const { runtime, capabilities } = await openRuntimes(database, runtimes);
  const services = await makeControlServices({ config, database, runtime, sealer, log });
  const definitions = operationDefinitions(services);
  const firstRun = await prepareFirstRun(database, config);
  if (settings !== undefined) await recordChangedSettings({ database, data: config.data, values: settings });
  const engine = await keepEngine({
    url,
    database,
    notifications,
    sealer,
    definitions: Object.values(definitions),
    log,
    graceMilliseconds: () => graceFor(processes.current()),
  });
  started.defer(() => engine.stop());

  const identities = makeIdentities(opened.pool);
  notifications.on(keysChangedChannel, identities.forgetKeys);
  notifications.onGap(identities.forgetKeys);

  const repeatedActivity = makeRepeatedActivity(database);
  const refusedKeys = makeRefusedKeys(opened.pool, repeatedActivity);
  started.defer(() => refusedKeys.flush().catch((err) => log.warn({ err }, "Writing the activity log failed")));

  const parts: Parts = {
    apiChallenges: new Map(),
    repeatedActivity,
    refusedKeys,
    config,
    opened,
    services,
    secretKeys,
    keyUse: makeKeyUse(opened.pool),
    identities,
    log,
    processes,
    capabilities,
    lookUp: makeLookUp(config.resolver),
    logs: openLogs(config.environmentLogs),
    acceptOperation: makeAcceptOperation({ sealer, definitions }),
    // After the identities, which forget changed keys first.
    eventFeeds: makeEventFeeds({ database, notifications, log }),
    operationWaits: makeOperationWaits({ read: makeOperationRead(opened.pool), notifications }),
  };
  await applyAddressSettings(parts);
  started.defer(() =>
    parts.keyUse.flush().catch((err: unknown) => log.warn({ err }, "Recording the use of API keys failed")),
  );
  started.use(await startPeriodicWork(parts));

  const app = await makeApp(parts);
  const server = buildServer({
    app,
    limits: config,
    processes: processes.current,
    metricsToken: config.metricsToken,
    securityTxt: securityTxtOf(config.securityContact),
    challenges: parts.apiChallenges,
    trustedProxies: createTrustedProxies(config.trustedProxies),
    console: consolePaths(config.assets),
    log,
  });
  started.defer(() => server.close());
  const address = await listen(server, config, descriptorsOf(sockets, "api")?.[0]);
  if (config.apiName !== null) started.use(await listenForEdge(server, config.apiSocket));
  const facts = await countContent(database);
  const owned = started.move();
  const stop = async () => {
    opened.stopWaiting();
    await owned.disposeAsync();
  };
  return { url: address, facts, firstRun, lost: engine.lost, stop };
}

/** The supervisor builds the console meanwhile. */
function consolePaths(assets: string): ConsolePaths {
  const version = consoleVersion();
  return { folder: buildOf(assets, version), failure: failureOf(assets, version) };
}

/** Dependencies of the API and the reconcilers. */
interface Parts
  extends Pick<
    App,
    "lookUp" | "acceptOperation" | "operationWaits" | "eventFeeds" | "repeatedActivity" | "refusedKeys" | "identities"
  > {
  readonly config: Config;
  readonly capabilities: OpenedRuntimes["capabilities"];
  readonly opened: OpenDatabase;
  readonly services: ControlServices;
  readonly secretKeys: KeySource;
  readonly keyUse: KeyUse;
  readonly logs: ReturnType<typeof openLogs>;
  /** Running challenges for the API's own name. */
  readonly apiChallenges: Map<string, string>;
  readonly processes: ControlProcessCount;
  readonly log: Logger;
}

/** Moves sites whose addresses depend on settings that have changed since the last start. */
async function applyAddressSettings({ services, config, acceptOperation, log }: Parts): Promise<void> {
  const moving = await moveSites({ database: services.database, settings: config, acceptOperation });
  if (moving > 0) log.info({ environments: moving }, "Moving sites to their new addresses");
}

async function startPeriodicWork(parts: Parts): Promise<AsyncDisposable> {
  const { config, services, capabilities, log } = parts;
  const { database, runtime, edge } = services;
  const hostOf = (place: Parameters<typeof addressOf>[1]) => new URL(addressOf(config, place)).host;
  const cron = makeCron({ database, runtime, edge, hostOf, concurrency: config.cronRuns, log });
  const stopping = new AbortController();
  const reconcilers = startReconcilers(
    periodicWork({
      ...services,
      config,
      cron,
      logs: parts.logs,
      apiChallenges: parts.apiChallenges,
      acceptOperation: parts.acceptOperation,
      repeatedActivity: parts.repeatedActivity,
      writeRepeatedActivity: parts.refusedKeys.flush,
      lookUp: parts.lookUp,
      phpVersions: new Map([...capabilities].map(([name, { phpVersions }]) => [name, phpVersions])),
      keyUse: parts.keyUse,
      processes: parts.processes,
      spool: openSpool(config.mailSpool),
      deliver: makeMailDelivery(config),
      onBrokenMail: ({ id, environmentId }) =>
        log.error(
          { mail: id, environment: environmentId },
          "A message in the mail spool can't be read and is left there",
        ),
      signal: stopping.signal,
      acmeRoots: await readAcmeRoots(config),
      log,
    }),
    log,
  );
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await cron.stop();
      await reconcilers.stop();
    },
  };
}

async function makeApp({
  config,
  capabilities,
  opened,
  services,
  secretKeys,
  keyUse,
  logs,
  log,
  processes: _,
  ...parts
}: Parts): Promise<App> {
  const { database, runtime, publisher, edge, downloads, packageSource, sealer } = services;
  return {
    ...parts,
    settings: config,
    limits: config,
    runtimes: [...capabilities.keys()],
    capabilitiesOf: (name) => capabilitiesNamed(capabilities, name),
    database,
    pool: opened.pool,
    readSite: makeSiteRead(opened.pool),
    snapshots: makeSnapshots(opened.pool),
    packageSource,
    sealer,
    listFiles: (environment) => runtime.listFiles(environment),
    readLog: logs.read,
    edgeNumbers: () => edge.status().catch(() => null),
    dataFolder: config.data,
    installation: makeInstallationProbes(config),
    publishRoutes: () => publishWithRetry(publisher),
    readPackages: makeReadPackages({ database, runtime }),
    cronEvents: (environment, signal) => runtime.cronEvents(environment, signal),
    findUser: (environment, email) => runtime.findUser(environment, email),
    readings: createTurns({ total: 4, perParty: 2 }),
    // A check takes 32 MB, and one of the four threads that also read files.
    passwordTurns: createTurns({ total: 2, perParty: 1, extra: 0 }),
    // Of ten connections to the database.
    transactions: createTurns({ total: 7, perParty: 4, extra: 1 }),
    exports: createTurns({ total: 2, perParty: 1 }),
    siteTasks: makeSiteTasks(edge),
    backupLists: makeBackupLists(opened.pool),
    companyPackages: makeCompanyPackageLists(opened.pool),
    downloadTokens: makeDownloadTokens(secretKeys),
    keyUse,
    downloadHours: config.downloadHours,
    compareBackups: compareBackups(services.archives),
    openDownload: (id) => downloads.open(id),
    acmeUrl: config.acmeUrl,
    regions: config.regions,
    hasMailServer: config.smtpUrl !== null,
    signInProvider: config.signInProvider && makeSignInProvider(config.signInProvider, log),
    hasAdvisories: config.advisories !== null,
    hasBrowser: services.screenshots !== null,
    findScreenshots: openScreenshotStore(config.screenshots).find,
    knowsPlaces: config.geoip !== null,
  };
}

function capabilitiesNamed(all: OpenedRuntimes["capabilities"], name: string): Capabilities {
  const found = all.get(name);
  if (found === undefined) throw new Error(`There is no runtime ${name}.`);
  return found;
}

async function listen(server: FastifyInstance, config: Config, inherited: number | undefined): Promise<string> {
  const address = { host: config.apiHost, port: config.controlPort };
  // Node prefers the descriptor.
  const where = inherited === undefined ? address : { ...address, fd: inherited };
  try {
    return await server.listen(where);
  } catch (cause) {
    const isTaken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
    if (!isTaken) throw cause;
    const message = `Port ${config.controlPort} is in use. Choose another with SITEWRIGHT_CONTROL_PORT.`;
    throw new CannotStart(message, { cause });
  }
}

/** Entry point of the process: reads the settings, and runs until it is stopped. */
export async function runControl(
  makeRuntimes: (config: Config, log: Logger) => Promise<Runtimes<Runtime>>,
): Promise<void> {
  await runSupervised(async () => {
    const sockets = takeInheritedSockets(process.env);
    const config = loadConfig(process.env);
    const log = pino({ level: config.logLevel, base: undefined });
    const settings = givenSettings(process.env);
    const control = await startControl({ config, runtimes: await makeRuntimes(config, log), log, settings, sockets });
    setTimeout(releaseMemory, releaseMemoryAfter).unref();
    return control;
  });
}

/**
 * Collects the garbage of the start. The supervisor starts this process with `--expose-gc`. The flavor `last-resort` would release
 * 26 MB more, but V8 would forget the shapes of objects, and each request would take 4 microseconds longer for ever.
 */
function releaseMemory(): void {
  globalThis.gc?.({ type: "major", execution: "sync" });
}
