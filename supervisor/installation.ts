/**
 * The supervisor's work: everything that runs for one data folder, started in an order in which each finds what
 * it needs, kept running, and stopped in the reverse.
 *
 * Only this process owns PostgreSQL. A second one that used a server that the first started would lose it
 * for good when the first is killed.
 */
import { join } from "node:path";
import type { Config } from "@sitewright/server/settings/config.ts";
import { movableSettings } from "@sitewright/server/settings/settingsFile.ts";
import * as v from "valibot";
import { baseUrl } from "./addresses.ts";
import { banner } from "./banner.ts";
import { childPart } from "./childPart.ts";
import { explainStart, openDataFolder } from "./dataFolder.ts";
import type { DataLock } from "./dataLock.ts";
import { type Kept, keepRunning } from "./keepRunning.ts";
import { openLog } from "./logFile.ts";
import { ownFolder } from "./ownFolder.ts";
import type { Part } from "./part.ts";
import { findPorts } from "./ports.ts";
import { postgresPart } from "./postgres/postgresPart.ts";
import { prepareInProcess } from "./preparation.ts";
import {
  brokenOffRestore,
  readChosen,
  readFirstRun,
  readRun,
  removeRun,
  writeChosen,
  writeLastStart,
  writeRun,
} from "./records.ts";
import { removeRunFolder } from "./runFolder.ts";
import type { Terminal } from "./terminal.ts";
import { warningIn } from "./warnings.ts";

export interface InstallationOptions {
  readonly config: Config;
  /** What the children inherit; the settings are written over it. */
  readonly env: NodeJS.ProcessEnv;
  /** File and arguments for Node: what fetches and unpacks what the runtime needs, and our processes. */
  readonly programs: Readonly<Record<"prepare" | "control" | "edge" | "dns", readonly string[]>>;
  /** Whether there is nothing left to prepare: a process that finds that out would cost half a second of each start. */
  readonly isPrepared: () => boolean;
  readonly terminal: Terminal;
  /** A region for the example. */
  readonly region: string;
}

export interface Installation {
  /** Resolves when everything answers. Rejects with sentences for the person; `stop` is still to be called. */
  start(): Promise<void>;
  /** Stops the edge first, so that no visitor is served by an incomplete installation. */
  stop(): Promise<void>;
  /** At once. */
  kill(): void;
}

export function makeInstallation(options: InstallationOptions): Installation {
  const { config, terminal } = options;
  let lock: DataLock | null = null;
  const stopping = new AbortController();
  let isSettled = false;
  let content: Content = { sites: 0, environments: 0 };
  const parts: { postgres?: Kept; control?: Kept; edge?: Kept; dns?: Kept } = {};
  const report = (sentence: string) => terminal.warn(sentence);
  const keep = (part: Part) => keepRunning(part, { report });

  function prepare(env: NodeJS.ProcessEnv): Promise<void> {
    const program = { parameters: options.programs.prepare, env, signal: stopping.signal };
    return prepareInProcess(program, terminal.progress);
  }

  async function start(): Promise<void> {
    lock = openDataFolder(config.data);
    const brokenOff = brokenOffRestore(config.data);
    if (brokenOff !== null) throw new Error(brokenOff);
    ownFolder(config.run);
    const isFirstRun = readFirstRun(config.data) === null;
    const ports = await choosePorts(config, report);
    const env = childEnvironment(options, ports);
    writeLastStart(config.data, lastStartOf(options, ports));
    const prepared = options.isPrepared() ? Promise.resolve() : prepare(env);
    const database = startDatabase().then((url) => {
      writeRun(config.data, { pid: process.pid, database_url: url, api_url: apiUrl(ports.controlPort) });
      return url;
    });
    await Promise.all([
      // PowerDNS is started by its own operator.
      ...(config.powerDns === null ? [startDns(env)] : []),
      prepared.then(async () => {
        parts.edge = await keep(child("edge", { ...env, ...addressesToKeepFrom(config) }));
      }),
      Promise.all([database, prepared]).then(async ([url]) => {
        parts.control = await keep(child("control", { ...env, ...secretsOfControl(options, url) }));
      }),
    ]);
    isSettled = true;
    terminal.say(
      banner({
        ...config,
        ...ports,
        ...content,
        region: options.region,
        firstRun: readFirstRun(config.data),
        isFirstRun,
      }),
    );
  }

  async function startDns(env: NodeJS.ProcessEnv): Promise<void> {
    parts.dns = await keep(child("dns", env));
  }

  async function startDatabase(): Promise<string> {
    if (config.databaseUrl !== null) {
      return config.databaseUrl;
    }
    const address = Promise.withResolvers<string>();
    parts.postgres = await keep(
      postgresPart({
        dataDirectory: join(config.data, "postgres"),
        runDirectory: config.run,
        log: openLog(logPath("postgres")),
        ready: address.resolve,
      }),
    );
    return address.promise;
  }

  const apiUrl = (port: number) => `${baseUrl(config.host, port)}/v2`;
  const logPath = (name: string) => join(config.data, "logs", `${name}.log`);

  function noteContent(message: object): void {
    if (v.is(contentMessage, message)) content = message;
  }

  function child(name: "control" | "edge" | "dns", env: NodeJS.ProcessEnv): Part {
    return childPart({
      name,
      ready: noteContent,
      parameters: options.programs[name],
      env,
      log: openLog(logPath(name)),
      line: (line) => {
        // While things come up and go down, the one finds the other missing; that is in the log and no news.
        const warning = isSettled ? warningIn(name, line) : null;
        if (warning !== null) {
          report(warning);
        }
      },
    });
  }

  return {
    async start() {
      try {
        await start();
      } catch (cause) {
        throw new Error(explainStart(cause, config), { cause });
      }
    },
    async stop() {
      isSettled = false;
      stopping.abort();
      await parts.edge?.stop();
      await parts.dns?.stop();
      await parts.control?.stop();
      await parts.postgres?.stop();
      if (lock !== null) {
        removeRun(config.data);
        removeRunFolder(config.run);
        lock.release();
      }
    },
    kill() {
      stopping.abort();
      for (const part of [parts.edge, parts.dns, parts.control, parts.postgres]) {
        part?.kill();
      }
    },
  };
}

/** Part of control's ready message. */
const contentMessage = v.object({ sites: v.number(), environments: v.number() });
type Content = v.InferOutput<typeof contentMessage>;

interface Ports {
  readonly controlPort: number;
  readonly edgePort: number;
  readonly edgeTlsPort: number;
  readonly dnsPort: number;
}

/** How long the children of a supervisor that was killed may take to end. */
const leftoversMs = 5_000;

async function choosePorts(config: Config, report: (sentence: string) => void): Promise<Ports> {
  const chosen = readChosen(config.data);
  const api = { port: config.controlPort, purpose: "the API", setting: "SITEWRIGHT_CONTROL_PORT" };
  const sites = { port: config.edgePort, purpose: "the sites", setting: "SITEWRIGHT_EDGE_PORT" };
  const tls = { port: config.edgeTlsPort, purpose: "the sites by TLS", setting: "SITEWRIGHT_EDGE_TLS_PORT" };
  const dns = { port: config.dnsPort, purpose: "DNS", setting: "SITEWRIGHT_DNS_PORT" };
  const [controlPort = 0, edgePort = 0, edgeTlsPort = 0, dnsPort = 0] = await findPorts(
    config.host,
    [
      { ...api, preferred: chosen?.controlPort },
      { ...sites, preferred: chosen?.edgePort },
      { ...tls, preferred: chosen?.edgeTlsPort },
      { ...dns, preferred: chosen?.dnsPort },
    ],
    // An orderly stop removes the record.
    readRun(config.data) === null ? 0 : leftoversMs,
  );
  writeChosen(config.data, { controlPort, edgePort, edgeTlsPort, dnsPort, siteSuffix: config.siteSuffix });
  if (chosen !== null && chosen.edgePort !== edgePort) {
    report(
      `Sites now answer at port ${edgePort} instead of ${chosen.edgePort}. Existing sites get their new addresses one ` +
        `after another. To go back, start with SITEWRIGHT_EDGE_PORT=${chosen.edgePort}.`,
    );
  }
  if (chosen !== null && chosen.siteSuffix !== config.siteSuffix) {
    report(
      `Sites are now named below ${config.siteSuffix} instead of ${chosen.siteSuffix}. Existing sites get their new ` +
        `addresses one after another. To go back, start with SITEWRIGHT_SITE_SUFFIX=${chosen.siteSuffix}.`,
    );
  }
  return { controlPort, edgePort, edgeTlsPort, dnsPort };
}

/** Whom zones are handed to: keys, and what is of no use without them. */
const dnsOfControl = [
  "SITEWRIGHT_DNS_SECONDARIES",
  "SITEWRIGHT_DNS_KEY",
  "SITEWRIGHT_DNS_BACKEND",
  "SITEWRIGHT_POWERDNS_URL",
  "SITEWRIGHT_POWERDNS_KEY",
];

/** All children are told the same, concretely. */
function childEnvironment({ config, env }: InstallationOptions, ports: Ports): NodeJS.ProcessEnv {
  const secrets = [
    "DATABASE_URL",
    "SITEWRIGHT_FIRST_API_KEY",
    "SITEWRIGHT_ARCHIVE_URL",
    "SITEWRIGHT_SMTP_URL",
    "SITEWRIGHT_BACKUP_PASSPHRASE",
    ...dnsOfControl,
  ];
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.includes(name)));
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

/** For backups of the installation, which are made without knowledge of how it was started. */
function lastStartOf({ config, env }: InstallationOptions, ports: Ports): Record<string, string> {
  return {
    ...movableSettings(env),
    SITEWRIGHT_CONTROL_PORT: String(ports.controlPort),
    SITEWRIGHT_EDGE_PORT: String(ports.edgePort),
    SITEWRIGHT_EDGE_TLS_PORT: String(ports.edgeTlsPort),
    SITEWRIGHT_DNS_PORT: String(ports.dnsPort),
    SITEWRIGHT_SITE_SUFFIX: config.siteSuffix,
  };
}

function secretsOfControl({ config, env }: InstallationOptions, databaseUrl: string): NodeJS.ProcessEnv {
  return {
    DATABASE_URL: databaseUrl,
    ...(config.firstApiKey === null ? {} : { SITEWRIGHT_FIRST_API_KEY: config.firstApiKey }),
    ...(config.archiveUrl === null ? {} : { SITEWRIGHT_ARCHIVE_URL: config.archiveUrl }),
    ...(config.smtpUrl === null ? {} : { SITEWRIGHT_SMTP_URL: config.smtpUrl }),
    ...Object.fromEntries(dnsOfControl.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
  };
}

/** The edge runs strangers' PHP: it learns where is what PHP must not reach, and nothing to get in with. */
function addressesToKeepFrom({ databaseUrl, smtpUrl }: Config): NodeJS.ProcessEnv {
  return {
    ...(databaseUrl === null ? {} : { DATABASE_URL: `postgresql://${new URL(databaseUrl).host}/` }),
    ...(smtpUrl === null || !URL.canParse(smtpUrl) ? {} : { SITEWRIGHT_SMTP_URL: withoutLogin(smtpUrl) }),
  };
}

function withoutLogin(address: string): string {
  const { protocol, host } = new URL(address);
  return `${protocol}//${host}`;
}
