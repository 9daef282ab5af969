/** The reconcilers of the control process. */
import type { EnvironmentRuntime } from "@sitewright/runtimes/runtime.ts";
import type { Logger } from "pino";
import { makeRebuild } from "../app/backups/rebuild.ts";
import { makeScheduledBackup } from "../app/backups/scheduledBackups.ts";
import { makeTestRestore } from "../app/backups/scheduledTestRestores.ts";
import type { KeyUse } from "../app/company/keyUse.ts";
import type { RepeatedActivity } from "../app/company/repeatedActivity.ts";
import { noteSiteLogin } from "../app/company/siteLogins.ts";
import { makeAutomaticUpdate } from "../app/packages/automaticUpdateStarts.ts";
import { makeRolloutStart } from "../app/packages/rolloutStarts.ts";
import { makePhpUpdate } from "../app/sites/automaticPhp.ts";
import type { Archives } from "../archives/archives.ts";
import type { Downloads } from "../archives/downloads.ts";
import { pruneActivity } from "../audit/prune.ts";
import { sealActivity } from "../audit/seal.ts";
import type { DnsClient } from "../clients/dnsClient.ts";
import type { EdgeClient, TakenLogin } from "../clients/edgeClient.ts";
import type { LookUp } from "../domains/lookUp.ts";
import { readDomainName } from "../domains/names.ts";
import type { Logs } from "../logs/logs.ts";
import type { Deliver } from "../mail/deliver.ts";
import type { Spool, SpooledMail } from "../mail/spool.ts";
import type { AcceptOperation } from "../operations/engine/accept.ts";
import type { PackageSource } from "../packages/source.ts";
import type { Publisher } from "../publishing/publishRoutes.ts";
import type { ZonePublisher } from "../publishing/publishZones.ts";
import { makeDnsChallenges } from "../reconcilers/certificates/dnsChallenges.ts";
import { makeDnsSolver } from "../reconcilers/certificates/dnsSolver.ts";
import { makeHttpSolver } from "../reconcilers/certificates/httpSolver.ts";
import { makeApiCertificateOrder } from "../reconcilers/certificates/orderApiCertificate.ts";
import { orderCertificates } from "../reconcilers/certificates/orderCertificates.ts";
import { checkDomains } from "../reconcilers/checkDomains.ts";
import { checkForUpdates } from "../reconcilers/checkForUpdates.ts";
import { expireAnalytics, makeCollectAnalytics } from "../reconcilers/collectAnalytics.ts";
import { collectLogins } from "../reconcilers/collectLogins.ts";
import { expireUsage, makeCollectUsage } from "../reconcilers/collectUsage.ts";
import type { Cron } from "../reconcilers/cron/runCron.ts";
import { deliverMails } from "../reconcilers/deliverMails.ts";
import { expire } from "../reconcilers/expire.ts";
import { expireBackups } from "../reconcilers/expireBackups.ts";
import { expireDownloads } from "../reconcilers/expireDownloads.ts";
import { expireLogs } from "../reconcilers/expireLogs.ts";
import { expireScreenshots } from "../reconcilers/expireScreenshots.ts";
import { measureDisk } from "../reconcilers/measureDisk.ts";
import { readAdvisories } from "../reconcilers/readAdvisories.ts";
import { readArchives } from "../reconcilers/readArchives.ts";
import { readDuePackages, readNewPackages } from "../reconcilers/readPackages.ts";
import { rebuildEnvironments } from "../reconcilers/rebuildEnvironments.ts";
import { runRollouts } from "../reconcilers/runRollouts.ts";
import type { Reconciler } from "../reconcilers/schedule.ts";
import { scheduleBackups } from "../reconcilers/scheduleBackups.ts";
import { makeTakeMails } from "../reconcilers/takeMails.ts";
import { startTestRestores } from "../reconcilers/testRestores.ts";
import { updateAutomatically } from "../reconcilers/updateAutomatically.ts";
import { updatePhp } from "../reconcilers/updatePhp.ts";
import { continueArchiveRotation } from "../rotation/rotateArchiveKey.ts";
import { continueRotation } from "../rotation/rotateSecrets.ts";
import type { Sealer } from "../sealing.ts";
import type { Config } from "../settings/config.ts";
import { raiseVerified } from "../store/backups/damage.ts";
import { countActivity } from "../store/company/activityCounts.ts";
import type { ControlProcessCount } from "../store/controlProcesses.ts";
import type { Database } from "../store/database.ts";
import { removeOldCertificates } from "../store/domains/certificates.ts";
import { beginWaiting } from "../store/operations.ts";
import type { NamedEnvironment } from "../store/sites/environments.ts";
import { deleteOldMails } from "../store/traffic/mails.ts";
import { workOnAccountMail } from "./accountMailWork.ts";

interface PeriodicWorkOptions {
  readonly database: Database;
  readonly publisher: Publisher;
  readonly zones: Pick<ZonePublisher, "reconcile" | "publish">;
  readonly dns: Pick<DnsClient, "textsOf">;
  readonly edge: EdgeClient;
  readonly runtime: EnvironmentRuntime;
  readonly cron: Cron;
  readonly archives: Archives;
  readonly downloads: Downloads;
  readonly logs: Logs;
  readonly acceptOperation: AcceptOperation;
  readonly repeatedActivity: RepeatedActivity;
  readonly writeRepeatedActivity: () => Promise<void>;
  readonly config: Config;
  /** By name of the runtime. */
  readonly phpVersions: ReadonlyMap<string, readonly string[]>;
  readonly spool: Spool;
  /** Null if there is no mail server. */
  readonly deliver: Deliver | null;
  readonly onBrokenMail: (mail: SpooledMail) => void;
  /** Aborted when the process stops, to end long runs. */
  readonly signal: AbortSignal;
  /** Rejects if the archives are not the ones that hold the backups. */
  readonly checkArchive: (signal: AbortSignal) => Promise<void>;
  readonly lookUp: LookUp;
  readonly keyUse: KeyUse;
  readonly processes: ControlProcessCount;
  /** Null if there is none. */
  readonly packageSource: PackageSource | null;
  readonly sealer: Sealer;
  /** Receives the challenges for the API's own name, which the API answers. */
  readonly apiChallenges: Map<string, string>;
  /** PEM of the roots for the certificate authority's own certificate, or null for the system's. */
  readonly acmeRoots: readonly string[] | null;
  readonly log: Logger;
}

/** Packs are verified after this fraction of the maximum age, so that backups rarely have to wait for it. */
const verifyAhead = 0.75;
const minute = 60;
const hour = 60 * minute;

export function periodicWork(options: PeriodicWorkOptions): readonly Reconciler[] {
  const { database, publisher, cron } = options;
  return [
    {
      name: "publishRoutes",
      work: "Publishing sites to the edge",
      everySeconds: 3,
      retrySeconds: 1,
      run: publisher.reconcile,
    },
    {
      name: "beginWaiting",
      work: "Starting waiting operations",
      everySeconds: 30,
      retrySeconds: 30,
      run: async () => {
        await database.transaction().execute(beginWaiting);
      },
    },
    {
      name: "expire",
      work: "Removing expired records",
      everySeconds: hour,
      retrySeconds: minute,
      run: () => expire(database),
    },
    ...workOnActivity(options),
    {
      name: "countProcesses",
      work: "Counting the control processes, which share rate limits",
      everySeconds: 5,
      retrySeconds: 5,
      run: options.processes.update,
    },
    {
      name: "recordKeyUse",
      work: "Recording the use of API keys",
      everySeconds: 10,
      retrySeconds: 10,
      run: () => options.keyUse.flush(),
    },
    {
      name: "continueRotation",
      work: "Rotating keys",
      everySeconds: hour,
      retrySeconds: minute,
      run: async () => {
        await continueRotation({ database, data: options.config.data });
        await continueArchiveRotation({ database, data: options.config.data });
      },
    },
    ...workOnUsage(options),
    {
      name: "runCron",
      work: "Running scheduled tasks of sites",
      everySeconds: 10,
      retrySeconds: 10,
      run: () => cron.reconcile(),
    },
    ...workOnEnvironments(options),
    ...workOnPackages(options),
    ...workOnDomains(options),
    ...workOnCertificates(options),
    ...workOnBackups(options),
    ...workOnMail(options),
    ...workOnAccountMail(options),
  ];
}

function workOnActivity(options: PeriodicWorkOptions): Reconciler[] {
  const { database, edge, config, repeatedActivity, writeRepeatedActivity } = options;
  const noteLogin = (environment: NamedEnvironment, login: TakenLogin) =>
    noteSiteLogin(repeatedActivity, environment, login);
  const { data, activityDays: days } = config;
  return [
    {
      name: "sealActivity",
      work: "Sealing the activity log",
      everySeconds: 1,
      retrySeconds: 5,
      run: () => sealActivity({ database, data }),
    },
    {
      name: "countActivity",
      work: "Counting the activity log",
      everySeconds: 5,
      retrySeconds: 5,
      run: () => countActivity(database),
    },
    {
      name: "collectLogins",
      work: "Collecting logins at sites",
      everySeconds: 10,
      retrySeconds: 10,
      run: () => collectLogins({ database, edge, note: noteLogin }),
    },
    {
      name: "writeRepeatedActivity",
      work: "Writing the activity log",
      everySeconds: minute,
      retrySeconds: 5,
      run: writeRepeatedActivity,
    },
    {
      name: "pruneActivity",
      work: "Removing old entries of the activity log",
      everySeconds: hour,
      retrySeconds: minute,
      run: () => pruneActivity({ database, data, days }),
    },
  ];
}

function workOnUsage({ database, edge, runtime, publisher, config }: PeriodicWorkOptions): Reconciler[] {
  const disk = { database, runtime, publisher, diskQuotaBytes: config.diskQuotaBytes };
  return [
    {
      name: "collectUsage",
      work: "Collecting usage",
      everySeconds: 10,
      retrySeconds: 10,
      run: makeCollectUsage({ database, edge }),
    },
    {
      name: "collectAnalytics",
      work: "Collecting counts of requests",
      everySeconds: 10,
      retrySeconds: 10,
      run: makeCollectAnalytics({ database, edge }),
    },
    {
      name: "expireAnalytics",
      work: "Removing old counts of requests",
      everySeconds: hour,
      retrySeconds: minute,
      run: () => expireAnalytics({ database }),
    },
    {
      name: "expireUsage",
      work: "Removing old usage records",
      everySeconds: hour,
      retrySeconds: minute,
      run: () => expireUsage({ database }),
    },
    {
      name: "measureDisk",
      work: "Measuring disk usage",
      everySeconds: 5,
      retrySeconds: 30,
      run: () => measureDisk(disk),
    },
  ];
}

function workOnEnvironments({
  database,
  logs,
  acceptOperation,
  config,
  phpVersions,
}: PeriodicWorkOptions): Reconciler[] {
  const starting = { database, settings: config, acceptOperation };
  const moved = { database, startedAt: new Date(), rebuild: makeRebuild(starting) };
  const php = { database, ended: config.endedPhpVersions, offered: phpVersions, change: makePhpUpdate(starting) };
  return [
    {
      name: "rebuildEnvironments",
      work: "Restoring environments after a move",
      everySeconds: 3,
      retrySeconds: 10,
      run: () => rebuildEnvironments(moved),
    },
    {
      name: "updatePhp",
      work: "Updating PHP versions",
      everySeconds: 5 * minute,
      retrySeconds: minute,
      run: () => updatePhp(php),
    },
    {
      name: "expireLogs",
      work: "Removing old logs",
      everySeconds: 10 * minute,
      retrySeconds: minute,
      run: () => expireLogs({ database, logs }),
    },
  ];
}

function workOnPackages(options: PeriodicWorkOptions): Reconciler[] {
  const { database, runtime, packageSource, acceptOperation, config, signal } = options;
  const { advisories: place } = config;
  const automatic = { database, begin: makeAutomaticUpdate({ database, settings: config, acceptOperation }) };
  const rollouts = { database, begin: makeRolloutStart({ settings: config, acceptOperation }) };
  const installed = { database, runtime };
  const reading = { work: "Reading installed plugins and themes", retrySeconds: 10 };
  const asking = { name: "checkForUpdates", work: "Checking for updates", everySeconds: 10, retrySeconds: 5 * minute };
  return [
    { ...reading, name: "readNewPackages", everySeconds: 3, run: () => readNewPackages(installed, signal) },
    { ...reading, name: "readPackages", everySeconds: minute, run: () => readDuePackages(installed, signal) },
    {
      name: "expireScreenshots",
      work: "Removing old screenshots",
      everySeconds: hour,
      retrySeconds: minute,
      run: () => expireScreenshots(config.screenshots),
    },
    {
      name: "runRollouts",
      work: "Running rollouts",
      everySeconds: 1,
      retrySeconds: 5,
      run: () => runRollouts(rollouts),
    },
    ...(packageSource === null
      ? []
      : [
          { ...asking, run: () => checkForUpdates({ database, source: packageSource }, signal) },
          {
            name: "updateAutomatically",
            work: "Starting automatic updates",
            everySeconds: 20,
            retrySeconds: minute,
            run: () => updateAutomatically(automatic),
          },
        ]),
    ...(place === null
      ? []
      : [
          {
            name: "readAdvisories",
            work: "Reading the vulnerability feed",
            everySeconds: minute,
            retrySeconds: 5 * minute,
            run: () => readAdvisories({ database, place }, signal),
          },
        ]),
  ];
}

function workOnDomains({ database, publisher, zones, config, lookUp, log }: PeriodicWorkOptions): Reconciler[] {
  const domains = { database, publisher, lookUp, installation: config, log };
  return [
    { name: "publishZones", work: "Publishing DNS zones", everySeconds: 3, retrySeconds: 1, run: zones.reconcile },
    {
      name: "checkDomains",
      work: "Checking domains in DNS",
      everySeconds: 1,
      retrySeconds: 5,
      run: () => checkDomains(domains),
    },
  ];
}

/** Orders in parallel: most of an order's time is spent waiting for the authority. */
const parallelOrders = 4;

function workOnCertificates(options: PeriodicWorkOptions): Reconciler[] {
  const { database, publisher, zones, dns, config, sealer, acmeRoots: roots, signal } = options;
  // DNS first: it works even if the name does not point here.
  const solvers = [makeDnsSolver(makeDnsChallenges({ database, zones, dns })), makeHttpSolver({ database, publisher })];
  const { acmeUrl: directory, acmeEmail: email, acmeBinding: binding } = config;
  const removeOld = async () => {
    if ((await removeOldCertificates(database, new Date())) > 0) await publisher.publish();
  };
  const ordering = Array.from({ length: directory === null ? 0 : parallelOrders }, (_, at) => ({
    name: `orderCertificates ${at + 1}`,
    work: "Ordering certificates",
    everySeconds: 2,
    retrySeconds: 10,
    run: async () => {
      if (directory === null) return;
      const authority = { directory, roots, email, binding };
      await orderCertificates({ database, sealer, publisher, solvers, ...authority, registrableOf, signal });
    },
  }));
  return [
    ...orderForApi(options),
    {
      name: "removeOldCertificates",
      work: "Removing old certificates",
      everySeconds: hour,
      retrySeconds: minute,
      run: removeOld,
    },
    ...ordering,
  ];
}

/** Usually only looks at the certificate. */
const apiCertificateSeconds = 10;

function orderForApi(options: PeriodicWorkOptions): Reconciler[] {
  const { database, config, sealer, edge, acmeRoots: roots, apiChallenges: challenges, signal } = options;
  const { data, apiName: name, apiCertificate, acmeUrl: directory, acmeEmail: email, acmeBinding: binding } = config;
  if (name === null || apiCertificate !== null || directory === null) return [];
  const isEdgeReady = () =>
    edge.status().then(
      () => true,
      () => false,
    );
  const authority = { database, sealer, directory, roots, email, binding, signal };
  return [
    {
      name: "orderApiCertificate",
      work: "Ordering the certificate for SITEWRIGHT_API_NAME",
      everySeconds: apiCertificateSeconds,
      retrySeconds: apiCertificateSeconds,
      run: makeApiCertificateOrder({ ...authority, name, data, challenges, isEdgeReady }),
    },
  ];
}

const registrableOf = (name: string): string => readDomainName(name).registrable;

function workOnBackups(options: PeriodicWorkOptions): Reconciler[] {
  const { database, archives, downloads, acceptOperation, config } = options;
  const starting = { database, settings: config, acceptOperation };
  const backups = { database, hours: config.backupHours, begin: makeScheduledBackup(starting) };
  const testRestores = { database, perDay: config.testRestoresPerDay, start: makeTestRestore(starting) };
  const reading = { database, archives, days: verifyAhead * config.archiveReadDays, signal: options.signal };
  // Checks the store at startup, before a backup fails.
  const verify = () => options.checkArchive(options.signal).then(() => readArchives(reading));
  return [
    {
      name: "scheduleBackups",
      work: "Starting scheduled backups",
      everySeconds: 5,
      retrySeconds: 30,
      run: () => scheduleBackups(backups),
    },
    {
      name: "startTestRestores",
      work: "Starting test restores",
      everySeconds: 30,
      retrySeconds: minute,
      run: () => startTestRestores(testRestores),
    },
    { name: "readArchives", work: "Checking the archives", everySeconds: 10, retrySeconds: minute, run: verify },
    {
      name: "raiseVerified",
      work: "Recording checks of the archives",
      everySeconds: hour,
      retrySeconds: minute,
      run: () => raiseVerified(database),
    },
    {
      name: "expireBackups",
      work: "Removing expired backups",
      everySeconds: 10 * minute,
      retrySeconds: minute,
      run: () => expireBackups({ database, archives }),
    },
    {
      name: "expireDownloads",
      work: "Removing expired downloads",
      everySeconds: 5 * minute,
      retrySeconds: minute,
      run: () => expireDownloads({ database, downloads }),
    },
  ];
}

/** Parallel deliveries of all environments: mail servers limit connections. */
const parallelDeliveries = 3;
const mailboxLimits = { messages: 1_000, bytes: 500e6 };

function workOnMail({ database, config, spool, deliver, onBrokenMail }: PeriodicWorkOptions): Reconciler[] {
  const take = makeTakeMails({ database, spool, hasServer: deliver !== null, onBroken: onBrokenMail });
  const limits = { days: config.mailDays, ...mailboxLimits };
  const queue = deliver && { database, deliver, from: config.mailFrom, recipientsPerHour: config.mailPerHour };
  const delivering = Array.from({ length: queue ? parallelDeliveries : 0 }, (_, at) => `deliverMails ${at + 1}`);
  return [
    { name: "takeMails", work: "Collecting mail from sites", everySeconds: 1, retrySeconds: 2, run: take },
    {
      name: "deleteOldMails",
      work: "Removing old mail",
      everySeconds: minute,
      retrySeconds: minute,
      run: () => deleteOldMails(database, limits),
    },
    ...delivering.map((name) => ({
      name,
      work: "Delivering mail",
      everySeconds: 1,
      retrySeconds: 5,
      run: async () => {
        if (queue) await deliverMails(queue);
      },
    })),
  ];
}
