/**
 * Starts and stops the edge and its servers: HTTP and HTTPS for visitors, a loopback socket for PHP, and the admin
 * socket.
 *
 * The edge starts from the table in its file and can serve from it without the control process.
 */

import { randomBytes } from "node:crypto";
import type { Server as HttpServer } from "node:http";
import type { Server } from "node:net";
import { setImmediate as nextRound } from "node:timers/promises";
import { createAdminServer } from "./admin.ts";
import { type AnalyticsOptions, openAnalytics } from "./analytics/analytics.ts";
import { createAnswerTimes } from "./answerTimes.ts";
import { type ApiCertificate, withApiCertificate } from "./api/apiCertificate.ts";
import type { ApiName } from "./api/apiName.ts";
import { openBodies } from "./bodies/bodies.ts";
import { type DiskPages, openDiskPages } from "./cache/diskPages.ts";
import { createPageCache } from "./cache/pageCache.ts";
import type { PurgeScope } from "./cache/purgeScope.ts";
import { createFolderAccess } from "./files/access/folderAccess.ts";
import { createFileCache } from "./files/fileCache.ts";
import { addressOf } from "./http/address.ts";
import { type Limits, maxBodyBytes } from "./http/limits.ts";
import { closeServer, type ListenAddress, listenWidely } from "./http/listeners.ts";
import { createNetworkCounts, type NetworkCounts } from "./http/networkCounts.ts";
import { createNetworkPace } from "./http/networkPace.ts";
import { createOpenCounts } from "./http/openCounts.ts";
import { listenOnSocket } from "./http/sockets.ts";
import { createTrustedProxies, type TrustedProxies } from "./http/trustedProxies.ts";
import { createLoginBrake } from "./login/loginBrake.ts";
import { createLoginEvents } from "./login/loginEvents.ts";
import { createLogins } from "./login/logins.ts";
import type { EdgeLog } from "./logs/edgeLog.ts";
import type { EnvironmentLogs } from "./logs/environmentLogs.ts";
import type { EdgeParts } from "./parts.ts";
import { createCoalescing } from "./php/coalescing.ts";
import { createFairQueue } from "./php/fairQueue.ts";
import { createUnreadResponses } from "./php/unreadResponses.ts";
import type { Upstream } from "./php/upstream.ts";
import { createWrites } from "./php/writes.ts";
import { createPhpCallers, createPhpListener, type IdentifyPhp, type PhpListener } from "./phpListener.ts";
import { createPhpPorts, type PhpPort, type PhpPortsOptions } from "./phpPorts.ts";
import { createRedirectVisits, type RedirectSources } from "./redirectVisits.ts";
import { createRoutes } from "./tables/routes.ts";
import { loadTableFile } from "./tables/tableFile.ts";
import { type Certificates, createCertificates, type ReadCertificate } from "./tls/certificates.ts";
import { tlsOptions } from "./tls/options.ts";
import type { SecureServer } from "./tls/secureServer.ts";
import { payerOf } from "./visit/claimant.ts";
import { createSecureVisitorServer, createVisitorServer } from "./visitors.ts";

export interface EdgeOptions {
  /** Closed together with the edge. */
  readonly upstream: Upstream;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Sockets of the port that the process has inherited. Absent: it opens them. */
  readonly inherited?: ListenAddress["inherited"];
  /** Absent: no TLS. */
  readonly tls?: EdgeTlsOptions;
  /** Only this user may enter its folder. Folders of sockets are created; socket paths must be short. */
  readonly adminSocket: string;
  /** Absent: PHP can't connect to the edge. */
  readonly php?: PhpSocketOptions;
  /** Absent: there is no PHP that runs as a program of this machine. */
  readonly phpPorts?: PhpPortsOptions;
  readonly tableFile: string;
  /** For large request bodies. Used for nothing else: it is emptied at startup. */
  readonly bodyFolder: string;
  /** Disk space that sites may still use, in bytes. Absent: what is free where `bodyFolder` is. */
  readonly freeDisk?: () => Promise<number>;
  /** Absent: no redirect rules. */
  readonly redirects?: RedirectSources;
  /** Absent: counts are lost with the process. */
  readonly analytics?: AnalyticsOptions;
  /** Size of the page cache. Absent: 64 MB in memory. */
  readonly pages?: PageCacheSettings;
  readonly limits: Limits;
  /** The port of TLS in addresses, if it is forwarded to the one in `tls`. */
  readonly publicTlsPort?: number;
  /** Addresses and networks of proxies that say where a request comes from. Absent: none. */
  readonly trustedProxies?: readonly string[];
  /** New sites get host names below it. */
  readonly siteSuffix: string;
  /** The name at which the API is reached over TLS. Absent: none. */
  readonly api?: ApiName & ApiCertificate;
  /** Writes the security.txt for names that belong to no site. Absent or null: there is none. */
  readonly securityTxt?: (() => string) | null;
  /** Closed together with the edge. */
  readonly logs: EnvironmentLogs;
  readonly log: EdgeLog;
}

/** The socket for this installation's PHP. */
export interface PhpSocketOptions {
  readonly socket: string;
  /** Id of the group that may connect, because PHP may run as other users. Null: only this user. */
  readonly group: number | null;
  readonly identify: IdentifyPhp;
}

export interface PageCacheSettings {
  readonly memoryBytes: number;
  /** Absent: memory only. */
  readonly disk?: { readonly folder: string; readonly bytes: number };
  /** Milliseconds since 1970. Absent: the system clock. */
  readonly now?: () => number;
}

const fileCacheBytes = 64 << 20;
const defaultPageCache: PageCacheSettings = { memoryBytes: 64 << 20 };

export interface EdgeTlsOptions extends Pick<ListenAddress, "port" | "inherited"> {
  readonly readCertificate: ReadCertificate;
}

/** Open connections of one environment's PHP. A script needs one for each request that it sends at the same time. */
const maxPhpConnections = 200;

/** Keys for TLS session tickets. They are renewed regularly and on every restart. */
const ticketKeyBytes = 48;
const ticketKeyMilliseconds = 12 * 60 * 60 * 1000;

export interface Edge {
  readonly port: number;
  /** Null without TLS. */
  readonly tlsPort: number | null;
  /** Where connections to the two ports must be led if PHP makes them. Empty without `phpPorts`. */
  readonly phpPorts: readonly PhpPort[];
  /** Clears cached pages that a site reported as changed. They are gone when this returns. */
  purge(environmentId: string, scope: PurgeScope): void;
  /** Stops accepting requests, lets running ones finish within the grace period, then stops PHP. */
  close(graceMilliseconds: number): Promise<void>;
}

/** Rejects with the error of `listen` (such as `EADDRINUSE` or `EACCES`) if a port can't be opened. */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const { upstream, limits, logs, log } = options;
  const { requestSeconds, bodyGraceSeconds } = limits;
  const pace = { requestSeconds, graceSeconds: bodyGraceSeconds };
  const { bodyFolder: folder, freeDisk } = options;
  const bodies = await openBodies({ folder, bodyBytes: maxBodyBytes(limits), pace, ...(freeDisk && { freeDisk }) });
  const writes = createWrites(limits.freezeSeconds);
  const certificates = createAllCertificates(options);
  const redirects = createRedirectVisits(options.redirects ?? null, log);
  const { memoryBytes, now = Date.now } = options.pages ?? defaultPageCache;
  const pageCache = createPageCache({ memoryBytes, disk: openPagesOnDisk(options), now });
  const fileCache = createFileCache(fileCacheBytes);
  const routes = createRoutes(upstream, writes, (table) => {
    certificates?.set(table.certificates ?? []);
    redirects.retain(table.environments);
    const payers = new Map(table.environments.map((environment) => [environment.id, payerOf(environment)]));
    pageCache.retain(table.environments, payers);
    fileCache.setPayers(payers);
    options.phpPorts?.onHosts(table.hosts);
  });
  const caches = {
    coalescing: createCoalescing(writes),
    pageCache,
    fileCache,
    folderAccess: createFolderAccess(),
    fairQueue: createFairQueue(),
    answerTimes: createAnswerTimes(),
  };
  const analytics = await openAnalytics({
    ...(options.analytics ?? { folder: null }),
    phpWork: () => upstream.usage(),
    onFailure: (err) => log.error({ err }, "Counts of requests could not be read from disk or written to it"),
  });
  const tlsParts = {
    publicTlsPort: () => {
      const port = portOrNull(secureVisitors);
      return port === null ? null : (options.publicTlsPort ?? port);
    },
    sharesCertificate: (shown: string, asked: string) => certificates?.sharesCertificate(shown, asked) ?? false,
  };
  const logins = createLogins();
  const trustedProxies = createTrustedProxies(options.trustedProxies ?? []);
  const { redirectVisit } = redirects;
  const parts: EdgeParts = {
    api: options.api ?? null,
    routes,
    trustedProxies,
    proxiedRequests: createNetworkCounts(limits.connectionsPerNetwork, (address) =>
      log.warn(
        { address, max: limits.connectionsPerNetwork },
        "Requests by way of a proxy are refused, because their address has too many",
      ),
    ),
    ...tlsParts,
    upstream,
    bodies,
    pace: createNetworkPace(),
    unread: createUnreadResponses(limits.unreadBytes, (count) =>
      log.warn({ count }, "Responses were cut off, because their visitors read too slowly and memory was needed"),
    ),
    writes,
    ...caches,
    analytics,
    logins,
    loginBrake: createLoginBrake(),
    loginEvents: createLoginEvents(),
    redirectVisit,
    limits,
    siteSuffix: options.siteSuffix,
    securityTxt: options.securityTxt ?? null,
    logs,
    log,
  };
  const open = countOpen(limits, trustedProxies, log);
  const visitors = createVisitorServer(parts);
  visitors.on("connection", (socket) => {
    if (!open.connections.add(addressOf(socket), socket)) socket.destroy();
  });
  const php = options.php === undefined ? null : createPhpServer(parts, options.php);
  const tls = certificates === null ? null : tlsOptions(certificates, log);
  const phpPorts =
    options.phpPorts === undefined ? null : createPhpPorts(parts, options.phpPorts, tls, maxPhpConnections);
  const secureVisitors = tls === null ? null : createSecureVisitorServer(parts, tls, open);
  const admin = createAdminServer(parts, () => portOf(visitors));
  const servers: readonly HttpServer[] = [visitors, admin];
  const renewTicketKeys = () => secureVisitors?.setTicketKeys(randomBytes(ticketKeyBytes));
  const renewalTimer = setInterval(renewTicketKeys, ticketKeyMilliseconds).unref();
  const close = (grace: number) => {
    clearInterval(renewalTimer);
    return Promise.all([
      ...servers.map((server) => closeServer(server, grace)),
      php?.close(grace),
      phpPorts?.close(grace),
      secureVisitors?.close(grace),
    ]);
  };

  await routes.set(
    await loadTableFile(options.tableFile, (err) =>
      log.error({ err, file: options.tableFile }, "table file is broken"),
    ),
  );
  let portsForPhp: readonly PhpPort[] = [];
  try {
    await listenWidely(visitors, options);
    if (secureVisitors !== null && options.tls !== undefined) {
      await listenWidely(secureVisitors.listener, { ...options.tls, host: options.host });
    }
    if (php !== null && options.php !== undefined) {
      await listenOnSocket(php.listener, options.php.socket, options.php.group);
    }
    portsForPhp = (await phpPorts?.listen({ port: portOf(visitors), tlsPort: portOrNull(secureVisitors) })) ?? [];
    await listenOnSocket(admin, options.adminSocket, null);
  } catch (error) {
    await close(0);
    throw error;
  }

  return {
    port: portOf(visitors),
    tlsPort: portOrNull(secureVisitors),
    phpPorts: portsForPhp,
    purge: (environmentId, scope) => {
      caches.coalescing.stopSharing(environmentId);
      pageCache.purge(environmentId, scope);
    },
    async close(graceMilliseconds) {
      await close(graceMilliseconds);
      await upstream.close();
      // Requests whose connections were just closed are counted and logged in this turn of the event loop.
      await nextRound();
      await Promise.all([analytics.close(), logs.close()]);
    },
  };
}

function createPhpServer(parts: EdgeParts, { identify }: PhpSocketOptions): PhpListener {
  const callers = createPhpCallers();
  const open = createOpenCounts(maxPhpConnections, (environmentId) =>
    parts.log.warn(
      { environmentId, max: maxPhpConnections },
      "Connections of PHP are refused: its environment has too many",
    ),
  );
  return createPhpListener(createVisitorServer(parts, callers.find), callers, identify, open);
}

/** Counters of visitors' connections, for HTTP and HTTPS together, and of their concurrent HTTP/2 requests. */
/** The connections of trusted proxies are many visitors'. */
function countOpen({ connectionsPerNetwork: max }: Limits, trustedProxies: TrustedProxies, log: EdgeLog) {
  const report = (what: string) => (address: string) =>
    log.warn(
      { address, max },
      `${what} are refused, because their address has too many. If it is your proxy, set SITEWRIGHT_TRUSTED_PROXIES`,
    );
  const countOf = (what: string): NetworkCounts => {
    const counts = createNetworkCounts(max, report(what));
    return { add: (address, owner) => trustedProxies.has(address) || counts.add(address, owner) };
  };
  return { connections: countOf("Connections"), requests: countOf("HTTP/2 requests") };
}

function createAllCertificates({ tls, api, log }: EdgeOptions): Certificates | null {
  if (tls === undefined) return null;
  const ofSites = createCertificates(tls.readCertificate, log);
  return api === undefined ? ofSites : withApiCertificate(ofSites, api, log);
}

function openPagesOnDisk({ pages, log }: EdgeOptions): DiskPages | null {
  const disk = pages?.disk;
  if (disk === undefined) return null;
  return openDiskPages({ ...disk, onFailure: (err) => log.warn({ err }, "A page could not be cached on disk") });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function portOrNull(secure: SecureServer | null): number | null {
  return secure === null ? null : portOf(secure.listener);
}
