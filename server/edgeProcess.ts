/**
 * The edge process: the public server and its PHP workers.
 *
 * It starts with the table in its file and needs neither the control process nor the database, so sites stay available while
 * those are down, and after it was killed and restarted.
 */
import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import { type Edge, type EdgeOptions, startEdge } from "@sitewright/edge/edge.ts";
import { createEnvironmentLogs } from "@sitewright/edge/logs/environmentLogs.ts";
import type { Upstream } from "@sitewright/edge/php/upstream.ts";
import type { PhpPortsOptions } from "@sitewright/edge/phpPorts.ts";
import { readRules } from "@sitewright/edge/redirects/readRules.ts";
import type { RedirectSources } from "@sitewright/edge/redirectVisits.ts";
import { freeDisk } from "@sitewright/runtimes/freeDisk.ts";
import type { PhpNetwork } from "@sitewright/runtimes/native/network/phpNetwork.ts";
import { phpGroup, useUsersFrom } from "@sitewright/runtimes/owner.ts";
import { createPhpCredentials } from "@sitewright/runtimes/phpCredentials.ts";
import { edgeSocketName } from "@sitewright/runtimes/playground/worker/assignment.ts";
import { joinEdgeGroup, removeEmptyGroups, useProcessorGroups } from "@sitewright/runtimes/processor/companies.ts";
import type { Serving } from "@sitewright/runtimes/serving.ts";
import { type Logger, pino } from "pino";
import { makeApiCertificateReader } from "./apiCertificate.ts";
import { readEdgeCertificate } from "./edgeCertificate.ts";
import { makeEdgeServing, type ServingTools } from "./edgeServing.ts";
import { openGeoip } from "./geoip.ts";
import { descriptorsOf, type InheritedSocket, takeInheritedSockets } from "./inheritedSockets.ts";
import { openKeySource } from "./keyFile.ts";
import { type NativeMachine, openNativeMachine } from "./nativeMachine.ts";
import { phpFolder } from "./phpNetwork.ts";
import { secretsKeyFile } from "./sealedSettings.ts";
import { openSealer } from "./sealing.ts";
import { type Config, loadConfig } from "./settings/config.ts";
import { securityTxtOf } from "./settings/securityTxt.ts";

/** Long enough for an upload over a slow connection, and longer than PHP's deadline. */
const requestSeconds = 300;
const headSeconds = 15;
const bodyGraceSeconds = 10;
/** Twice as much may accumulate for a second. */
const unreadBytes = 256 << 20;
const silenceAfterDeadlineSeconds = 60;
/** Longer writes to a frozen site are aborted, because a push and the site's editors wait for them. */
const freezeSeconds = 20;
/** About as long as people wait for a page before they load it again. */
const holdSeconds = 30;
/** How long running requests may take on shutdown, and if the supervisor was killed, which leaves the edge four seconds. */
const graceMilliseconds = { stop: 10_000, orphan: 3_000 };
const emptyGroupsMilliseconds = 60_000;

/** Creates the serving side of the runtimes. The compiler checks it against the edge's requirements. */
type MakeServing = (tools: ServingTools) => Serving & Pick<Upstream, "status">;

interface EdgeProcessOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Absent or null: there are no native environments. */
  readonly native?: Pick<NativeMachine, "network"> | null;
  readonly makeServing: MakeServing;
  /** Absent: the process opens its sockets. */
  readonly sockets?: readonly InheritedSocket[];
}

/** Resolves when the edge is listening. Rejects with an error whose message says what to change. */
export async function startEdgeProcess({
  config,
  log,
  native = null,
  makeServing,
  sockets = [],
}: EdgeProcessOptions): Promise<Edge> {
  let edge: Edge | null = null;
  // With port 0, the port is known only after listening. Workers ask for it when they get their environment.
  const logs = createEnvironmentLogs({ folder: config.environmentLogs });
  const credentials = createPhpCredentials(await openKeySource(secretsKeyFile(config.data)));
  const serving = makeServing({
    credentialOf: credentials.of,
    edgePort: () => config.publicPort || (edge?.port ?? 0),
    onStalePages: (environmentId, pages) => edge?.purge(environmentId, pages),
    onErrorLine: (environmentId, line) => logs.error(environmentId, line),
  });
  try {
    edge = await startEdge({
      upstream: serving,
      host: config.host,
      port: config.edgePort,
      inherited: descriptorsOf(sockets, "http"),
      tls: {
        port: config.edgeTlsPort,
        inherited: descriptorsOf(sockets, "https"),
        readCertificate: await certificateReader(config),
      },
      ...(config.apiName !== null && { api: await apiOf(config, config.apiName) }),
      adminSocket: join(config.run, "edge.sock"),
      php: {
        socket: join(phpFolder(config), edgeSocketName),
        group: phpGroup(),
        identify: credentials.environmentOf,
      },
      ...(native?.network.isRestricted && { phpPorts: phpPortsOf(native.network, log) }),
      tableFile: join(config.data, "edge", "table.json"),
      // Not below the system's folder for temporary files, which may be in memory.
      bodyFolder: join(config.data, "edge", "bodies"),
      freeDisk: () => freeDisk({ folder: config.data, bytes: config.diskReserveBytes }),
      redirects: await redirectSources(config),
      analytics: { folder: join(config.data, "edge", "analytics") },
      pages: {
        memoryBytes: config.pageCacheMemoryBytes,
        disk: { folder: join(config.data, "edge", "pages"), bytes: config.pageCacheDiskBytes },
      },
      limits: {
        connectionsPerNetwork: config.connectionsPerAddress,
        ...config.uploads,
        headSeconds,
        requestSeconds,
        bodyGraceSeconds,
        unreadBytes,
        silenceSeconds: config.maxRequestSeconds + silenceAfterDeadlineSeconds,
        freezeSeconds,
        holdSeconds,
      },
      ...(config.publicTlsPort > 0 && { publicTlsPort: config.publicTlsPort }),
      trustedProxies: config.trustedProxies,
      siteSuffix: config.siteSuffix,
      securityTxt: securityTxtOf(config.securityContact),
      logs,
      log,
    });
    if (native?.network.isRestricted) await native.network.leadToEdge(withPublicPorts(edge, config));
    return edge;
  } catch (error) {
    await serving.close();
    throw explain(error, config);
  }
}

/** The edge knows native PHP by the address that it is led to. */
function phpPortsOf(network: PhpNetwork, log: Logger): PhpPortsOptions {
  return {
    callerAt: (address) => network.callerAt(address),
    onHosts: (hosts) => {
      network.setHostNames(hosts).catch((err) => log.error({ err }, "Own names of native sites could not be changed"));
    },
  };
}

/** PHP connects to the ports in addresses, or to those where the edge listens. */
function withPublicPorts(edge: Edge, { publicPort, publicTlsPort }: Config): Edge["phpPorts"] {
  const inAddresses = edge.phpPorts.map(({ port, phpPort }) => ({
    port: (port === edge.port ? publicPort : publicTlsPort) || port,
    phpPort,
  }));
  const others = inAddresses.filter((one) => !edge.phpPorts.some(({ port }) => port === one.port));
  return [...edge.phpPorts, ...others];
}

async function redirectSources({ data, geoip }: Config): Promise<RedirectSources> {
  const read: RedirectSources["read"] = (list) => readRules(join(data, "edge", "redirects"), list);
  return geoip === null ? { read } : { read, placeOf: await openGeoip(geoip) };
}

async function certificateReader(config: Config) {
  const sealer = await openSealer(secretsKeyFile(config.data));
  return (id: string) => readEdgeCertificate(join(config.data, "edge", "certificates"), id, sealer);
}

async function apiOf(config: Config, name: string): Promise<NonNullable<EdgeOptions["api"]>> {
  const sealer = await openSealer(secretsKeyFile(config.data));
  return { name, socket: config.apiSocket, readCertificate: makeApiCertificateReader(config, sealer) };
}

function explain(error: unknown, config: Config): unknown {
  const code = error instanceof Error && "code" in error ? error.code : null;
  const failed = error instanceof Error && "port" in error ? error.port : null;
  const isTls = failed === config.edgeTlsPort && failed !== config.edgePort;
  const port = isTls ? config.edgeTlsPort : config.edgePort;
  const setting = isTls ? "SITEWRIGHT_EDGE_TLS_PORT" : "SITEWRIGHT_EDGE_PORT";
  switch (code) {
    case "EADDRINUSE":
      return new Error(`Port ${port} is in use. Choose another with ${setting}.`, {
        cause: error,
      });
    case "EACCES":
      return new Error(`This user is not allowed to open port ${port}. Choose one above 1023 with ${setting}.`, {
        cause: error,
      });
    case "EADDRNOTAVAIL":
      return new Error(`This machine has no address ${config.host}. Choose another with SITEWRIGHT_HOST.`, {
        cause: error,
      });
    default:
      return error;
  }
}

/**
 * Entry point of the process. Sends its parent `{ type: "ready", port }`, or `{ type: "failed", message }` before it exits
 * with 1. Exits with 0 on SIGTERM, on SIGINT and when the parent is gone.
 */
export async function runEdge(): Promise<void> {
  const stopping = Promise.withResolvers<keyof typeof graceMilliseconds>();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stopping.resolve("stop"));
  process.on("disconnect", () => stopping.resolve("orphan"));
  try {
    const sockets = takeInheritedSockets(process.env);
    const config = loadConfig(process.env);
    useUsersFrom(config.firstUserId);
    useProcessorGroups(config.data);
    joinEdgeGroup();
    setInterval(removeEmptyGroups, emptyGroupsMilliseconds).unref();
    const log = pino({ level: config.logLevel, base: undefined });
    const native = await openNativeMachine(config, log, "edge");
    const edge = await startEdgeProcess({
      config,
      log,
      native,
      sockets,
      makeServing: (tools) => makeEdgeServing({ config, log, machine: native }, tools),
    });
    await sendToParent({ type: "ready", port: edge.port });
    await edge.close(graceMilliseconds[await stopping.promise]);
    await native?.network.close();
    // Fails if it contains files of another process.
    await rmdir(phpFolder(config)).catch(() => undefined);
    process.exit(0);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${message}\n`);
    await sendToParent({ type: "failed", message });
    process.exit(1);
  }
}

/** Resolves when the message is sent, so that the process can exit; without a parent at once. */
function sendToParent(message: object): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, () => resolve());
  });
}
