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
import { isSystemdService } from "@sitewright/runtimes/processor/place.ts";
import type { InheritedSocket } from "@sitewright/server/inheritedSockets.ts";
import { secretsKeyFile } from "@sitewright/server/sealedSettings.ts";
import { openSealer } from "@sitewright/server/sealing.ts";
import type { Config } from "@sitewright/server/settings/config.ts";
import * as v from "valibot";
import { baseUrl } from "./addresses.ts";
import { banner } from "./banner.ts";
import { childEnvironment, controlEnvironment, effectiveSettings } from "./childEnvironment.ts";
import { childService } from "./childService.ts";
import { explainStartError, openDataFolder } from "./dataFolder.ts";
import type { DataLock } from "./dataLock.ts";
import { forbiddenAddresses } from "./forbiddenAddresses.ts";
import { keepRunning, type SupervisedService } from "./keepRunning.ts";
import { choosePorts, forwardedPorts, openListeners } from "./listeners.ts";
import { openLog } from "./logFile.ts";
import { ensureOwnedFolder } from "./ownedFolder.ts";
import { postgresService } from "./postgres/postgresService.ts";
import { prepareInProcess } from "./preparation.ts";
import {
  interruptedRestoreMessage,
  readFirstRun,
  removeRun,
  writeInstallation,
  writeLastStart,
  writeRun,
} from "./records.ts";
import { removeRunFolder } from "./runFolder.ts";
import type { Service } from "./service.ts";
import type { Sockets } from "./sockets.ts";
import type { BoundSocket } from "./systemdSockets.ts";
import type { Terminal } from "./terminal.ts";
import { checkUserIds, chooseUserIds } from "./userIds.ts";
import { warningIn } from "./warnings.ts";

interface InstallationOptions {
  readonly config: Config;
  /** Environment of the children, which settings are added to. */
  readonly env: NodeJS.ProcessEnv;
  /** File and arguments for Node. `prepare` fetches and unpacks WordPress and PHP, `console` builds the console. */
  readonly programs: Readonly<Record<"prepare" | "console" | "control" | "edge" | "dns", readonly string[]>>;
  /** True if `prepare` has nothing to do. Running it just to find out would slow each start by half a second. */
  readonly isPrepared: () => boolean;
  /** True if `console` has nothing to do. */
  readonly isConsoleBuilt: () => boolean;
  readonly terminal: Terminal;
  /** Sockets that systemd has opened. Absent: none. */
  readonly given?: readonly BoundSocket[];
}

export interface Installation {
  /** Resolves when all processes are ready. Rejects with a user-facing error; call `stop` even then. */
  start(): Promise<void>;
  /** Resolves with the name of a process that was asked to stop. The others need it, so call `stop`. */
  readonly toldToEnd: Promise<string>;
  /** Stops the edge first, so that no visitor is served by an incomplete installation; last if it only serves visitors, who wait. */
  stop(): Promise<void>;
  kill(): void;
}

export function makeInstallation(options: InstallationOptions): Installation {
  const { config, terminal, given = [] } = options;
  let lock: DataLock | null = null;
  let sockets: Sockets | null = null;
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

  /** Nothing waits for it: everything works without the console, which says why it is missing. */
  async function buildConsole(env: NodeJS.ProcessEnv): Promise<void> {
    try {
      await prepareInProcess({ parameters: options.programs.console, env, signal: stopping.signal }, () => undefined);
    } catch (cause) {
      if (stopping.signal.aborted) return;
      report(
        `The console could not be built; everything else works. ${cause instanceof Error ? cause.message : cause}`,
      );
    }
  }

  async function start(): Promise<void> {
    lock = openDataFolder(config.data);
    const unfinishedRestore = interruptedRestoreMessage(config.data);
    if (unfinishedRestore !== null) throw new Error(unfinishedRestore);
    ensureOwnedFolder(config.run);
    openProcessorGroups(config.data);
    const firstUserId = chooseUserIds(config, options.env);
    checkUserIds({ ...config, firstUserId }, report);
    const ports = await choosePorts(config, given, report);
    sockets = await openListeners(config, ports, given, report);
    writeInstallation(config.data, { ...ports, ...forwardedPorts(config), siteSuffix: config.siteSuffix, firstUserId });
    const env = { ...childEnvironment(options, ports), SITEWRIGHT_FIRST_USER_ID: String(firstUserId) };
    const sealer = await openSealer(secretsKeyFile(config.data));
    writeLastStart(config.data, effectiveSettings(options, ports), sealer);
    const prepared = options.isPrepared() ? Promise.resolve() : prepare(env);
    if (!options.isConsoleBuilt()) void buildConsole(env);
    const database = startDatabase().then((url) => {
      const run = { pid: process.pid, database_url: url, api_url: apiUrl(ports.controlPort) };
      writeRun(config.data, run, config.databaseUrl === null ? null : sealer);
      return url;
    });
    await Promise.all([
      // PowerDNS runs independently of Sitewright.
      ...(config.powerDns === null ? [startDns(env)] : []),
      prepared.then(async () => {
        services.edge = await keep(
          child("edge", { ...env, ...forbiddenAddresses(config) }, sockets?.of("http", "https")),
        );
      }),
      Promise.all([database, prepared]).then(async ([url]) => {
        services.control = await keep(
          child("control", { ...env, ...controlEnvironment(options.env), DATABASE_URL: url }, sockets?.of("api")),
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
        isService: isSystemdService(),
      }),
    );
  }

  async function startDns(env: NodeJS.ProcessEnv): Promise<void> {
    services.dns = await keep(child("dns", env, sockets?.of("dns-udp", "dns-tcp")));
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

  function child(
    name: "control" | "edge" | "dns",
    env: NodeJS.ProcessEnv,
    inherited: readonly InheritedSocket[] = [],
  ): Service {
    return childService({
      name,
      sockets: inherited,
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
      sockets?.close();
      const [visible, behind] = [
        [services.edge, services.dns],
        [services.control, services.postgres],
      ];
      // With systemd's sockets, visitors wait from the edge's end until the next start. Clients of the API's name have already been
      // accepted by the edge, so control must still be there for them.
      const isEdgeLast = sockets?.outliveUs === true && config.apiName === null;
      for (const service of isEdgeLast ? [...behind, ...visible] : [...visible, ...behind]) {
        await service?.stop();
      }
      if (lock !== null) {
        try {
          removeRun(config.data);
          await closeEnvironmentGroups(config.data);
          await closeProcessorGroups(config.data);
          removeRunFolder(config.run);
        } finally {
          lock.release();
        }
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
