/**
 * Reads the settings (`settings.ts`) once, into a frozen object.
 *
 * A mistyped name is an error, because a setting that is silently ignored costs more than a failed startup. Other unknown names
 * are ignored: they may belong to other tools.
 */
import { join, resolve } from "node:path";
import type { UploadLimits } from "@sitewright/runtimes/serving.ts";
import * as v from "valibot";
import { type DnsSecondaries, type PowerDnsServer, parseSocketAddress, parseTsigKey } from "./dnsSettings.ts";
import { edgeAddresses } from "./edgeAddresses.ts";
import { defaultMaxWorkers } from "./maxWorkers.ts";
import { parseRegions, type Region } from "./regions.ts";
import { convertValue, problemsOf } from "./settingChecks.ts";
import { defaults, megabyte, type Settings, settings } from "./settings.ts";
import { type ProviderConfig, signInProviderOf } from "./signInProvider.ts";

/** Enough for several new sites per second; 17 MB each. */
const readyCopies = 6;
/** What a form may contain besides its files. */
const formBytes = megabyte;

/** The configuration of all processes. Paths are absolute. */
export interface Config {
  readonly data: string;
  /** Where the edge and DNS listen. */
  readonly host: string;
  /** Where the API listens. */
  readonly apiHost: string;
  /** The API's own name at the edge, or null. */
  readonly apiName: string | null;
  /** The operator's certificate for it, as PEM files, or null. */
  readonly apiCertificate: { readonly chain: string; readonly key: string } | null;
  /** Where the API listens for the edge. */
  readonly apiSocket: string;
  /** Ports: 0 means any free port. */
  readonly controlPort: number;
  readonly edgePort: number;
  readonly edgeTlsPort: number;
  /** The ports of the sites in their addresses, which may be forwarded to those on which the edge listens. */
  readonly publicPort: number;
  readonly publicTlsPort: number;
  readonly dnsPort: number;
  /** Names of the DNS servers, as listed in zones, the primary one first. */
  readonly dnsNames: readonly string[];
  /** The secondary servers, or null. */
  readonly dnsSecondaries: DnsSecondaries | null;
  /** The PowerDNS that replaces the built-in server, or null. */
  readonly powerDns: PowerDnsServer | null;
  /** New sites are `<site>.<siteSuffix>`. */
  readonly siteSuffix: string;
  /** Regions for new sites, in the order of the setting. The first one is the default. */
  readonly regions: readonly [Region, ...Region[]];
  /** Address and port of the resolver for domains, or null for the machine's. */
  readonly resolver: string | null;
  /** Addresses that domains must point to. */
  readonly edgeAddresses: readonly string[];
  /** Addresses and networks of proxies that say where a request comes from. */
  readonly trustedProxies: readonly string[];
  /** Networks that sites' PHP may connect to although they are not public. */
  readonly phpMayReach: readonly string[];
  /** The file of the location database, or null if there is none. */
  readonly geoip: string | null;
  /** Null: embedded PostgreSQL. Never null in the processes that the supervisor starts. */
  readonly databaseUrl: string | null;
  readonly firstApiKey: string | null;
  readonly assets: string;
  readonly environments: string;
  /** Copies of a default WordPress, prepared for new sites. */
  readonly readyCopies: { readonly folder: string; readonly count: number };
  /** Keeps when WP-Cron events of sites are due. */
  readonly eventsFile: string;
  /** Records the folders with PHP that the operator has added. */
  readonly phpRoots: string;
  /** Folder for sockets: its path is short, and other users have no access. */
  readonly run: string;
  /** The first user id of sites, if Sitewright is root. */
  readonly firstUserId: number;
  readonly preparedWorkers: number;
  readonly maxWorkers: number;
  readonly requestDeadlineSeconds: number;
  /** At least `requestDeadlineSeconds`. */
  readonly maxRequestSeconds: number;
  readonly maxPhpMemoryMb: number;
  /** Disk space that sites must leave free. */
  readonly diskReserveBytes: number;
  /** Default quota of an environment, or null for no limit. */
  readonly diskQuotaBytes: number | null;
  readonly pageCacheMemoryBytes: number;
  /** 0: pages are cached in memory only. */
  readonly pageCacheDiskBytes: number;
  readonly idleSeconds: number;
  readonly uploads: UploadLimits;
  /** Open connections from one IPv4 address, or from one IPv6 /64. */
  readonly connectionsPerAddress: number;
  readonly rateLimitPerMinute: number;
  readonly creationLimitPerMinute: number;
  /** PHP versions that have reached their end of life; environments are moved to a newer one. */
  readonly endedPhpVersions: readonly string[];
  /** How long backups are kept, by type. */
  readonly backupDays: Readonly<Record<"manual" | "scheduled" | "system-generated", number>>;
  /** How long deleted sites and environments can be restored. */
  readonly restorableDays: number;
  /** Interval between scheduled backups of an environment; 0: no scheduled backups. */
  readonly backupHours: number;
  /** Interval between scheduled backups that read every file again. */
  readonly fullBackupDays: number;
  /** Period within which all data in the archives is read and checked once. */
  readonly archiveReadDays: number;
  /** Test restores per day. */
  readonly testRestoresPerDay: number;
  /** Location of the archives, or null for `archives`. */
  readonly archiveUrl: string | null;
  readonly archives: string;
  /** How long links to downloadable backups are valid. */
  readonly downloadHours: number;
  /** Time limit of a WP-CLI command. */
  readonly wpCliSeconds: number;
  readonly downloads: string;
  /** Access logs and PHP error logs, in a folder for each environment. */
  readonly environmentLogs: string;
  /** The source of plugins, themes and WordPress updates, or null. */
  readonly wporgUrl: string | null;
  /** Path of a Chromium, or `none`; null: an installed one, if any. */
  readonly chromium: string | null;
  readonly screenshots: string;
  /** URL or path of the vulnerability feed, or null. */
  readonly advisories: string | null;
  /** The mail server for mail of sites and to people; null: mail of sites is kept, and people get none. */
  readonly smtpUrl: string | null;
  /** Envelope sender for bounces, and sender of mail to people; null: the message's From, and a default. */
  readonly mailFrom: string | null;
  /** Maximum recipients per environment. */
  readonly mailPerHour: number;
  readonly mailDays: number;
  /** Folder for mail from PHP that is not in the database yet. */
  readonly mailSpool: string;
  /** The certificate authority's directory, or null if no certificates are ordered. */
  readonly acmeUrl: string | null;
  readonly acmeEmail: string | null;
  /** External account binding, or null if the authority needs none. */
  readonly acmeBinding: AcmeBinding | null;
  /** Root certificates for the authority's own URL, or null for the built-in ones. */
  readonly acmeCaFile: string | null;
  /** The OpenID Connect provider with which people can sign in, or null. */
  readonly signInProvider: ProviderConfig | null;
  /** Token for `/metrics`; null: only this machine can read it. */
  readonly metricsToken: string | null;
  /** Number of environments whose scheduled tasks run at the same time; 0: none run. */
  readonly cronRuns: number;
  /** Where to report vulnerabilities, as a URL, or null if there is no security.txt. */
  readonly securityContact: string | null;
  /** Days after which entries of the activity log are removed. */
  readonly activityDays: number;
  readonly logLevel: "silent" | "fatal" | "error" | "warn" | "info" | "debug" | "trace";
}

/** Key for ACME's external account binding, and its id at the authority. */
export interface AcmeBinding {
  readonly keyId: string;
  readonly key: Buffer;
}

/** Settings are wrong. The message, for the operator, has a line for each problem. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(["Some settings are wrong:", ...problems.map((problem) => `  ${problem}`)].join("\n"));
    this.problems = problems;
  }
}

/** Reads the settings. Empty variables count as unset. Throws `ConfigError`. */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  const known = Object.entries(given).filter(([name]) => name in settings.entries);
  const values: Record<string, unknown> = {
    ...defaults(resolve(given.SITEWRIGHT_DATA ?? "data")),
    ...Object.fromEntries(known.map(([name, value]) => [name, convertValue(name, value)])),
  };
  const problems = problemsOf(given, values);
  if (problems.length > 0 || !v.is(settings, values)) {
    throw new ConfigError(problems);
  }
  return freeze(values);
}

function freeze(values: Settings): Config {
  const data = resolve(values.SITEWRIGHT_DATA);
  const regions = parseRegions(values.SITEWRIGHT_REGIONS, values.SITEWRIGHT_RUNTIME);
  return Object.freeze({
    data,
    host: values.SITEWRIGHT_HOST,
    apiHost: values.SITEWRIGHT_API_HOST,
    apiName: values.SITEWRIGHT_API_NAME,
    apiCertificate: apiCertificateOf(values),
    apiSocket: join(resolve(values.SITEWRIGHT_RUN), "api.sock"),
    controlPort: values.SITEWRIGHT_CONTROL_PORT,
    edgePort: values.SITEWRIGHT_EDGE_PORT,
    edgeTlsPort: values.SITEWRIGHT_EDGE_TLS_PORT,
    publicPort: values.SITEWRIGHT_PUBLIC_PORT ?? values.SITEWRIGHT_EDGE_PORT,
    publicTlsPort: values.SITEWRIGHT_PUBLIC_TLS_PORT ?? values.SITEWRIGHT_EDGE_TLS_PORT,
    dnsPort: values.SITEWRIGHT_DNS_PORT,
    dnsSecondaries: dnsSecondariesOf(values),
    powerDns: powerDnsOf(values),
    dnsNames: values.SITEWRIGHT_DNS_NAMES?.split(",") ?? [`ns1.${values.SITEWRIGHT_SITE_SUFFIX}`],
    siteSuffix: values.SITEWRIGHT_SITE_SUFFIX,
    regions,
    resolver: values.SITEWRIGHT_RESOLVER,
    edgeAddresses: edgeAddresses(values.SITEWRIGHT_EDGE_ADDRESSES, values.SITEWRIGHT_HOST),
    trustedProxies: values.SITEWRIGHT_TRUSTED_PROXIES?.split(",") ?? [],
    phpMayReach: values.SITEWRIGHT_PHP_MAY_REACH?.split(",") ?? [],
    geoip: values.SITEWRIGHT_GEOIP === null ? null : resolve(values.SITEWRIGHT_GEOIP),
    databaseUrl: values.DATABASE_URL,
    firstApiKey: values.SITEWRIGHT_FIRST_API_KEY,
    assets: resolve(values.SITEWRIGHT_ASSETS),
    environments: join(data, "environments"),
    readyCopies: { folder: join(data, "ready"), count: readyCopies },
    eventsFile: join(data, "cron-events.json"),
    phpRoots: join(data, "php"),
    run: resolve(values.SITEWRIGHT_RUN),
    firstUserId: values.SITEWRIGHT_FIRST_USER_ID,
    preparedWorkers: values.SITEWRIGHT_PREPARED_WORKERS,
    maxWorkers: values.SITEWRIGHT_MAX_WORKERS ?? defaultMaxWorkers(regions),
    requestDeadlineSeconds: values.SITEWRIGHT_REQUEST_DEADLINE_SECONDS,
    maxRequestSeconds: Math.max(values.SITEWRIGHT_REQUEST_DEADLINE_SECONDS, values.SITEWRIGHT_MAX_REQUEST_SECONDS),
    maxPhpMemoryMb: values.SITEWRIGHT_MAX_PHP_MEMORY_MB,
    diskReserveBytes: values.SITEWRIGHT_DISK_RESERVE_MB * 1_000_000,
    diskQuotaBytes: values.SITEWRIGHT_DISK_QUOTA_MB === null ? null : values.SITEWRIGHT_DISK_QUOTA_MB * 1_000_000,
    pageCacheMemoryBytes: values.SITEWRIGHT_PAGE_CACHE_MEMORY_MB * megabyte,
    pageCacheDiskBytes: values.SITEWRIGHT_PAGE_CACHE_DISK_MB * megabyte,
    idleSeconds: values.SITEWRIGHT_IDLE_SECONDS,
    uploads: { uploadBytes: values.SITEWRIGHT_UPLOAD_LIMIT_BYTES, formBytes },
    connectionsPerAddress: values.SITEWRIGHT_CONNECTIONS_PER_ADDRESS,
    rateLimitPerMinute: values.SITEWRIGHT_RATE_LIMIT_PER_MINUTE,
    creationLimitPerMinute: values.SITEWRIGHT_CREATION_LIMIT_PER_MINUTE,
    endedPhpVersions: values.SITEWRIGHT_ENDED_PHP_VERSIONS.split(",").filter((version) => version !== ""),
    backupDays: {
      manual: values.SITEWRIGHT_MANUAL_BACKUP_DAYS ?? values.SITEWRIGHT_BACKUP_DAYS,
      scheduled: values.SITEWRIGHT_SCHEDULED_BACKUP_DAYS ?? values.SITEWRIGHT_BACKUP_DAYS,
      "system-generated": values.SITEWRIGHT_SYSTEM_BACKUP_DAYS ?? values.SITEWRIGHT_BACKUP_DAYS,
    },
    restorableDays: values.SITEWRIGHT_UNDELETE_DAYS ?? values.SITEWRIGHT_BACKUP_DAYS,
    backupHours: values.SITEWRIGHT_BACKUP_HOURS,
    fullBackupDays: values.SITEWRIGHT_FULL_BACKUP_DAYS,
    archiveReadDays: values.SITEWRIGHT_ARCHIVE_READ_DAYS,
    testRestoresPerDay: values.SITEWRIGHT_PROOFS_PER_DAY,
    archiveUrl: values.SITEWRIGHT_ARCHIVE_URL,
    archives: join(data, "archives"),
    downloadHours: values.SITEWRIGHT_DOWNLOAD_HOURS,
    downloads: join(data, "downloads"),
    environmentLogs: join(data, "environment-logs"),
    wpCliSeconds: values.SITEWRIGHT_WP_CLI_SECONDS,
    wporgUrl: values.SITEWRIGHT_WPORG_URL === "none" ? null : values.SITEWRIGHT_WPORG_URL,
    chromium: values.SITEWRIGHT_CHROMIUM,
    screenshots: join(data, "pictures"),
    advisories: advisoriesOf(values),
    smtpUrl: values.SITEWRIGHT_SMTP_URL,
    mailFrom: values.SITEWRIGHT_MAIL_FROM,
    mailPerHour: values.SITEWRIGHT_MAIL_PER_HOUR,
    mailDays: values.SITEWRIGHT_MAIL_DAYS,
    mailSpool: join(data, "mail"),
    acmeUrl: values.SITEWRIGHT_ACME_URL,
    acmeEmail: values.SITEWRIGHT_ACME_EMAIL,
    acmeBinding: acmeBindingOf(values),
    acmeCaFile: values.SITEWRIGHT_ACME_CA_FILE,
    signInProvider: signInProviderOf(values),
    metricsToken: values.SITEWRIGHT_METRICS_TOKEN,
    cronRuns: values.SITEWRIGHT_CRON_RUNS,
    securityContact: values.SITEWRIGHT_SECURITY_CONTACT,
    activityDays: values.SITEWRIGHT_ACTIVITY_DAYS,
    logLevel: values.SITEWRIGHT_LOG_LEVEL,
  });
}

function apiCertificateOf(values: Settings): Config["apiCertificate"] {
  const { SITEWRIGHT_API_CERTIFICATE: chain, SITEWRIGHT_API_CERTIFICATE_KEY: key } = values;
  return chain === null || key === null ? null : { chain, key };
}

function advisoriesOf({ SITEWRIGHT_ADVISORIES: location }: Settings): string | null {
  return location === null || /^https?:\/\//.test(location) ? location : resolve(location);
}

function acmeBindingOf(values: Settings): AcmeBinding | null {
  const { SITEWRIGHT_ACME_EAB_KEY_ID: keyId, SITEWRIGHT_ACME_EAB_KEY: key } = values;
  return keyId === null || key === null ? null : { keyId, key: Buffer.from(key, "base64url") };
}

function dnsSecondariesOf(values: Settings): DnsSecondaries | null {
  const { SITEWRIGHT_DNS_SECONDARIES: addresses, SITEWRIGHT_DNS_KEY: key } = values;
  if (addresses === null || key === null) return null;
  return { addresses: addresses.split(",").map(parseSocketAddress), key: parseTsigKey(key) };
}

function powerDnsOf(values: Settings): PowerDnsServer | null {
  const { SITEWRIGHT_POWERDNS_URL: url, SITEWRIGHT_POWERDNS_KEY: key, SITEWRIGHT_POWERDNS_ADDRESS: address } = values;
  return values.SITEWRIGHT_DNS_BACKEND === "own" || url === null || key === null
    ? null
    : { url: url.replace(/\/$/, ""), key, address };
}
