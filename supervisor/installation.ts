/**
 * All processes of one data folder: starts them in order of their dependencies, keeps them running, and stops them in
 * reverse.
 *
 * Only this process owns PostgreSQL. If a second supervisor used the same server, it would lose it for good when the
 * first is killed.
 */
import { join } from "node:path";
import { closeEnvironmentGroups } from "@sitewright/runtimes/processor/environments.ts";
import { closeProcessorGroups, openProcessorGroups } from "@sitewright/runtimes/processor/groups.ts";
import { secretsKeyFile } from "@sitewright/server/sealedSettings.ts";
import { openSealer } from "@sitewright/server/sealing.ts";
import type { Config } from "@sitewright/server/settings/config.ts";
import { secretSettings } from "@sitewright/server/settings/settings.ts";
import { movableSettings } from "@sitewright/server/settings/settingsFile.ts";
import * as v from "valibot";
import { baseUrl } from "./addresses.ts";
import { banner } from "./banner.ts";
import { childService } from "./childService.ts";
import { explainStartError, openDataFolder } from "./dataFolder.ts";
import type { DataLock } from "./dataLock.ts";
import { forbiddenAddresses } from "./forbiddenAddresses.ts";
import { keepRunning, type SupervisedService } from "./keepRunning.ts";
import { openLog } from "./logFile.ts";
import { ensureOwnedFolder } from "./ownedFolder.ts";
import { findPorts } from "./ports.ts";
import { postgresService } from "./postgres/postgresService.ts";
import { prepareInProcess } from "./preparation.ts";
import {
  interruptedRestoreMessage,
  readFirstRun,
  readInstallation,
  readRun,
  removeRun,
  writeInstallation,
  writeLastStart,
  writeRun,
} from "./records.ts";
import { removeRunFolder } from "./runFolder.ts";
import type { Service } from "./service.ts";
import type { Terminal } from "./terminal.ts";
import { checkUserIds, chooseUserIds } from "./userIds.ts";
import { warningIn } from "./warnings.ts";

interface InstallationOptions {
  readonly config: Config;
  /** Environment of the children, which settings are added to. */
  readonly env: NodeJS.ProcessEnv;
  /** File and arguments for Node. `prepare` fetches and unpacks WordPress and PHP. */
  readonly programs: Readonly<Record<"prepare" | "control" | "edge" | "dns", readonly string[]>>;
  /** True if `prepare` has nothing to do. Running it just to find out would slow each start by half a second. */
  readonly isPrepared: () => boolean;
  readonly terminal: Terminal;
}

export interface Installation {
  /** Resolves when all processes are ready. Rejects with a user-facing error; call `stop` even then. */
  start(): Promise<void>;
  /** Resolves with the name of a process that was asked to stop. The others need it, so call `stop`. */
  readonly toldToEnd: Promise<string>;
  /** Stops the edge first, so that no visitor is served by an incomplete installation. */
  stop(): Promise<void>;
  kill(): void;
}

export function makeInstallation(options: InstallationOptions): Installation {
  const { config, terminal } = options;
  let lock: DataLock | null = null;
  const stopping = new AbortController();
  let isRunning = false;
  let counts: Counts = { sites: 0, environments: 0 };
  const services: Partial<Record<"postgres" | "control" | "edge" | "dns", SupervisedService>> = {};
  const report = (sentence: string) => terminal.warn(sentence);
  const toldToEnd = Promise.withResolvers<string>();
  const keep = (service: Service) => keepRunning(service, { report, ended: () => toldToEnd.resolve(service.name) });

  function prepare(env: NodeJS.ProcessEnv): Promise<void> {
    const program = { parameters: options.programs.prepare, env, signal: stopping.signal };
    return prepareInProcess(program, terminal.progress);
  }

  async function start(): Promise<void> {
    lock = openDataFolder(config.data);
    const unfinishedRestore = interruptedRestoreMessage(config.data);
    if (unfinishedRestore !== null) throw new Error(unfinishedRestore);
    ensureOwnedFolder(config.run);
    openProcessorGroups(config.data);
    const firstUserId = chooseUserIds(config, options.env);
    checkUserIds({ ...config, firstUserId }, report);
    const ports = await choosePorts(config, report);
    writeInstallation(config.data, { ...ports, ...forwardedPorts(config), siteSuffix: config.siteSuffix, firstUserId });
    const env = { ...childEnvironment(options, ports), SITEWRIGHT_FIRST_USER_ID: String(firstUserId) };
    const sealer = await openSealer(secretsKeyFile(config.data));
    writeLastStart(config.data, effectiveSettings(options, ports), sealer);
    const prepared = options.isPrepared() ? Promise.resolve() : prepare(env);
    const database = startDatabase().then((url) => {
      const run = { pid: process.pid, database_url: url, api_url: apiUrl(ports.controlPort) };
      writeRun(config.data, run, config.databaseUrl === null ? null : sealer);
      return url;
    });
    await Promise.all([
      // PowerDNS runs independently of Sitewright.
      ...(config.powerDns === null ? [startDns(env)] : []),
      prepared.then(async () => {
        services.edge = await keep(child("edge", { ...env, ...forbiddenAddresses(config) }));
      }),
      Promise.all([database, prepared]).then(async ([url]) => {
        services.control = await keep(
          child("control", { ...env, ...controlEnvironment(options.env), DATABASE_URL: url }),
        );
      }),
    ]);
    isRunning = true;
    terminal.say(
      banner({
        ...config,
        ...ports,
        publicPort: ports.edgePort,
        publicTlsPort: ports.edgeTlsPort,
        ...forwardedPorts(config),
        ...counts,
        region: config.regions[0].id,
        firstRun: readFirstRun(config.data),
      }),
    );
  }

  async function startDns(env: NodeJS.ProcessEnv): Promise<void> {
    services.dns = await keep(child("dns", env));
  }

  async function startDatabase(): Promise<string> {
    if (config.databaseUrl !== null) {
      return config.databaseUrl;
    }
    const address = Promise.withResolvers<string>();
    services.postgres = await keep(
      postgresService({
        dataDirectory: join(config.data, "postgres"),
        runDirectory: config.run,
        log: openLog(logPath("postgres")),
        ready: address.resolve,
        ending: () => toldToEnd.resolve("PostgreSQL"),
      }),
    );
    return address.promise;
  }

  const apiUrl = (port: number) => `${baseUrl(config.apiHost, port)}/v2`;
  const logPath = (name: string) => join(config.data, "logs", `${name}.log`);

  function readCounts(message: object): void {
    if (v.is(countsMessage, message)) counts = message;
  }

  function child(name: "control" | "edge" | "dns", env: NodeJS.ProcessEnv): Service {
    return childService({
      name,
      ready: readCounts,
      parameters: options.programs[name],
      env,
      log: openLog(logPath(name)),
      line: (line) => {
        // During startup and shutdown, processes can't reach each other. These warnings are only in the log.
        const warning = isRunning ? warningIn(name, line) : null;
        if (warning !== null) {
          report(warning);
        }
      },
    });
  }

  return {
    toldToEnd: toldToEnd.promise,
    async start() {
      try {
        await start();
      } catch (cause) {
        throw new Error(explainStartError(cause, config), { cause });
      }
    },
    async stop() {
      isRunning = false;
      stopping.abort();
      // Whoever sent the signal may have sent it to all processes.
      for (const service of Object.values(services)) service.letEnd();
      await services.edge?.stop();
      await services.dns?.stop();
      await services.control?.stop();
      await services.postgres?.stop();
      if (lock !== null) {
        removeRun(config.data);
        removeRunFolder(config.run);
        await closeEnvironmentGroups(config.data);
        closeProcessorGroups(config.data);
        lock.release();
      }
    },
    kill() {
      stopping.abort();
      for (const service of [services.edge, services.dns, services.control, services.postgres]) {
        service?.kill();
      }
    },
  };
}

/** Part of control's ready message. */
const countsMessage = v.object({ sites: v.number(), environments: v.number() });
type Counts = v.InferOutput<typeof countsMessage>;

interface Ports {
  readonly controlPort: number;
  readonly edgePort: number;
  readonly edgeTlsPort: number;
  readonly dnsPort: number;
}

/** How long to wait for ports that the children of a killed supervisor still hold. */
const orphanTimeoutMs = 5_000;

async function choosePorts(config: Config, report: (sentence: string) => void): Promise<Ports> {
  const chosen = readInstallation(config.data);
  const api = { port: config.controlPort, purpose: "the API", setting: "SITEWRIGHT_CONTROL_PORT" };
  const sites = { port: config.edgePort, purpose: "the sites", setting: "SITEWRIGHT_EDGE_PORT" };
  const tls = { port: config.edgeTlsPort, purpose: "the sites over HTTPS", setting: "SITEWRIGHT_EDGE_TLS_PORT" };
  const dns = { port: config.dnsPort, purpose: "DNS", setting: "SITEWRIGHT_DNS_PORT" };
  const [controlPort = 0, edgePort = 0, edgeTlsPort = 0, dnsPort = 0] = await findPorts(
    config.host,
    [
      { ...api, preferred: chosen?.controlPort, host: config.apiHost, hostSetting: "SITEWRIGHT_API_HOST" },
      { ...sites, preferred: chosen?.edgePort },
      { ...tls, preferred: chosen?.edgeTlsPort },
      { ...dns, preferred: chosen?.dnsPort },
    ],
    // A clean stop removes the record.
    readRun(config.data) === null ? 0 : orphanTimeoutMs,
  );
  const { publicPort = edgePort } = forwardedPorts(config);
  const previous = chosen?.publicPort ?? chosen?.edgePort ?? publicPort;
  if (previous !== publicPort) {
    const setting = chosen?.publicPort === undefined ? "SITEWRIGHT_EDGE_PORT" : "SITEWRIGHT_PUBLIC_PORT";
    report(
      `Sites now use port ${publicPort} instead of ${previous}. The URLs of existing sites are being changed. ` +
        `To go back, start with ${setting}=${previous}.`,
    );
  }
  if (chosen !== null && chosen.siteSuffix !== config.siteSuffix) {
    report(
      `Sites are now subdomains of ${config.siteSuffix} instead of ${chosen.siteSuffix}. The URLs of existing sites are ` +
        `being changed. To go back, start with SITEWRIGHT_SITE_SUFFIX=${chosen.siteSuffix}.`,
    );
  }
  return { controlPort, edgePort, edgeTlsPort, dnsPort };
}

/** The ports in addresses that are not those on which the edge listens. */
function forwardedPorts(config: Config): { readonly publicPort?: number; readonly publicTlsPort?: number } {
  const { edgePort, edgeTlsPort, publicPort, publicTlsPort } = config;
  return {
    ...(publicPort !== edgePort && { publicPort }),
    ...(publicTlsPort !== edgeTlsPort && { publicTlsPort }),
  };
}

/** Settings that only control gets: the secret ones, and those that are useless without them. */
const controlSettings = [
  ...secretSettings,
  "SITEWRIGHT_DNS_SECONDARIES",
  "SITEWRIGHT_DNS_BACKEND",
  "SITEWRIGHT_POWERDNS_URL",
  "SITEWRIGHT_ACME_EAB_KEY_ID",
];

/** The same for all children, with concrete ports and without secrets. */
function childEnvironment({ config, env }: InstallationOptions, ports: Ports): NodeJS.ProcessEnv {
  const withheld = ["SITEWRIGHT_BACKUP_PASSPHRASE", ...controlSettings];
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !withheld.includes(name)));
  return {
    ...rest,
    SITEWRIGHT_DATA: config.data,
    SITEWRIGHT_ASSETS: config.assets,
    SITEWRIGHT_RUN: config.run,
    SITEWRIGHT_SITE_SUFFIX: config.siteSuffix,
    SITEWRIGHT_CONTROL_PORT: String(ports.controlPort),
    SITEWRIGHT_EDGE_PORT: String(ports.edgePort),
    SITEWRIGHT_EDGE_TLS_PORT: String(ports.edgeTlsPort),
    SITEWRIGHT_DNS_PORT: String(ports.dnsPort),
  };
}

/** The settings in force, for `operator backup`, which doesn't know how the installation was started. */
function effectiveSettings({ config, env }: InstallationOptions, ports: Ports): Record<string, string> {
  return {
    ...movableSettings(env),
    SITEWRIGHT_CONTROL_PORT: String(ports.controlPort),
    SITEWRIGHT_EDGE_PORT: String(ports.edgePort),
    SITEWRIGHT_EDGE_TLS_PORT: String(ports.edgeTlsPort),
    SITEWRIGHT_DNS_PORT: String(ports.dnsPort),
    SITEWRIGHT_SITE_SUFFIX: config.siteSuffix,
  };
}

function controlEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(controlSettings.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}
