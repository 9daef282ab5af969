/**
 * What the settings (`settings.ts`) say, read once into one frozen value.
 *
 * A name that is nearly one of them is an error, because a mistyped setting that is silently ignored costs more than one that
 * stops the start. Others may be for the tools beside us.
 */
import { join, resolve } from "node:path";
import * as v from "valibot";
import { type DnsSecondaries, type PowerDnsPlace, parsePlace, parseTsigKey } from "./dnsSettings.ts";
import { edgeAddresses } from "./edgeAddresses.ts";
import { problemsOf, readable } from "./settingChecks.ts";
import { defaults, megabyte, type Settings, settings } from "./settings.ts";

/** More than one person asks for within a second; 17 MB each. */
const readyCopies = 6;

/** What the processes are told. Paths are absolute. */
export interface Config {
  readonly data: string;
  readonly host: string;
  /** 0 stands for any free port. */
  readonly controlPort: number;
  readonly edgePort: number;
  readonly edgeTlsPort: number;
  readonly dnsPort: number;
  /** What zones name as their servers; the first is the primary one. */
  readonly dnsNames: readonly string[];
  /** The secondary servers, or null. */
  readonly dnsSecondaries: DnsSecondaries | null;
  /** The PowerDNS that answers instead of our server; null: ours does. */
  readonly powerDns: PowerDnsPlace | null;
  /** New sites are `<site>.<siteSuffix>`. */
  readonly siteSuffix: string;
  /** That domains are looked up with, address and port; null: those of the machine. */
  readonly resolver: string | null;
  /** What domains are to point to. */
  readonly edgeAddresses: readonly string[];
  /** The file of the location database; null: locations are unknown. */
  readonly geoip: string | null;
  /** Null: PostgreSQL is embedded. Never null in the processes that the supervisor starts. */
  readonly databaseUrl: string | null;
  readonly firstApiKey: string | null;
  readonly assets: string;
  readonly environments: string;
  /** Copies of the usual WordPress that new sites begin with. */
  readonly readyCopies: { readonly folder: string; readonly count: number };
  /** For sockets: a short path, closed to other users. */
  readonly run: string;
  readonly spareWorkers: number;
  readonly maxWorkers: number;
  readonly requestDeadlineSeconds: number;
  readonly maxPhpMemoryMb: number;
  /** Of environments that have no quota of their own; null: none. */
  readonly diskQuotaBytes: number | null;
  readonly pageCacheMemoryBytes: number;
  /** 0: pages are kept in memory only. */
  readonly pageCacheDiskBytes: number;
  readonly idleSeconds: number;
  readonly uploadLimitBytes: number;
  readonly rateLimitPerMinute: number;
  readonly creationLimitPerMinute: number;
  /** Versions of PHP that environments are moved off. */
  readonly endedPhpVersions: readonly string[];
  /** For which backups are kept, by their type. */
  readonly backupDays: Readonly<Record<"manual" | "scheduled" | "system-generated", number>>;
  /** For which what was deleted can be restored. */
  readonly undeleteDays: number;
  /** Between two scheduled backups of an environment; 0: none are made. */
  readonly backupHours: number;
  /** After which a scheduled backup reads everything again. */
  readonly fullBackupDays: number;
  /** Within which everything in the archives is read again. */
  readonly archiveReadDays: number;
  /** How many backups a day are restored for a proof. */
  readonly proofsPerDay: number;
  /** Where backups are kept; null: in a folder of the data's. */
  readonly archiveUrl: string | null;
  readonly archives: string;
  /** For which a link to a downloadable backup is good. */
  readonly downloadHours: number;
  /** After so long a command of WP-CLI is ended. */
  readonly wpCliSeconds: number;
  readonly downloads: string;
  /** What visitors asked of environments, and what PHP complained of: a folder for each environment. */
  readonly environmentLogs: string;
  /** Where plugins, themes and WordPress's updates are; null: nowhere. */
  readonly wporgUrl: string | null;
  /** Path of a Chromium, or `none`; null: where one usually is. */
  readonly chromium: string | null;
  readonly pictures: string;
  /** The feed of vulnerabilities, an address or a path; null: there is none. */
  readonly advisories: string | null;
  /** Where what sites send goes; null: nowhere, it is kept. */
  readonly smtpUrl: string | null;
  /** Where what can't be delivered goes back to; null: to whom it is from. */
  readonly mailFrom: string | null;
  /** Recipients of one environment. */
  readonly mailPerHour: number;
  readonly mailDays: number;
  /** For what PHP has handed over and the database does not have yet. */
  readonly mailSpool: string;
  /** The authority that certificates are ordered from; null: none are. */
  readonly acmeUrl: string | null;
  readonly acmeEmail: string | null;
  /** What the authority knows us by already; null: it gives an account to anybody. */
  readonly acmeBinding: AcmeBinding | null;
  /** The roots that the authority's own address is checked with; null: the usual ones. */
  readonly acmeCaFile: string | null;
  /** What `/metrics` is read with; null: only this machine reads it. */
  readonly metricsToken: string | null;
  /** In how many environments the events that are due are run at the same time; 0: in none. */
  readonly cronRuns: number;
  readonly logLevel: "silent" | "fatal" | "error" | "warn" | "info" | "debug" | "trace";
}

/** A key of a certificate authority's customer, and its name. */
export interface AcmeBinding {
  readonly keyId: string;
  readonly key: Buffer;
}

/** Every wrong setting at once, one line each, to be shown to the person who started the process. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(["Some settings are wrong:", ...problems.map((problem) => `  ${problem}`)].join("\n"));
    this.problems = problems;
  }
}

/** Reads the settings. An empty variable counts as one that is not set. Throws `ConfigError`. */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  const known = Object.entries(given).filter(([name]) => name in settings.entries);
  const values: Record<string, unknown> = {
    ...defaults(resolve(given.SITEWRIGHT_DATA ?? "data")),
    ...Object.fromEntries(known.map(([name, value]) => [name, readable(name, value)])),
  };
  const problems = problemsOf(given, values);
  if (problems.length > 0 || !v.is(settings, values)) {
    throw new ConfigError(problems);
  }
  return freeze(values);
}

function freeze(values: Settings): Config {
  const data = resolve(values.SITEWRIGHT_DATA);
  return Object.freeze({
    data,
    host: values.SITEWRIGHT_HOST,
    controlPort: values.SITEWRIGHT_CONTROL_PORT,
    edgePort: values.SITEWRIGHT_EDGE_PORT,
    edgeTlsPort: values.SITEWRIGHT_EDGE_TLS_PORT,
    dnsPort: values.SITEWRIGHT_DNS_PORT,
    dnsSecondaries: dnsSecondariesOf(values),
    powerDns: powerDnsOf(values),
    dnsNames: values.SITEWRIGHT_DNS_NAMES?.split(",") ?? [`ns1.${values.SITEWRIGHT_SITE_SUFFIX}`],
    siteSuffix: values.SITEWRIGHT_SITE_SUFFIX,
    resolver: values.SITEWRIGHT_RESOLVER,
    edgeAddresses: edgeAddresses(values.SITEWRIGHT_EDGE_ADDRESSES, values.SITEWRIGHT_HOST),
    geoip: values.SITEWRIGHT_GEOIP === null ? null : resolve(values.SITEWRIGHT_GEOIP),
    databaseUrl: values.DATABASE_URL,
    firstApiKey: values.SITEWRIGHT_FIRST_API_KEY,
    assets: resolve(values.SITEWRIGHT_ASSETS),
    environments: join(data, "environments"),
    readyCopies: { folder: join(data, "ready"), count: readyCopies },
    run: resolve(values.SITEWRIGHT_RUN),
    spareWorkers: values.SITEWRIGHT_SPARE_WORKERS,
    maxWorkers: values.SITEWRIGHT_MAX_WORKERS,
    requestDeadlineSeconds: values.SITEWRIGHT_REQUEST_DEADLINE_SECONDS,
    maxPhpMemoryMb: values.SITEWRIGHT_MAX_PHP_MEMORY_MB,
    diskQuotaBytes: values.SITEWRIGHT_DISK_QUOTA_MB === null ? null : values.SITEWRIGHT_DISK_QUOTA_MB * 1_000_000,
    pageCacheMemoryBytes: values.SITEWRIGHT_PAGE_CACHE_MEMORY_MB * megabyte,
    pageCacheDiskBytes: values.SITEWRIGHT_PAGE_CACHE_DISK_MB * megabyte,
    idleSeconds: values.SITEWRIGHT_IDLE_SECONDS,
    uploadLimitBytes: values.SITEWRIGHT_UPLOAD_LIMIT_BYTES,
    rateLimitPerMinute: values.SITEWRIGHT_RATE_LIMIT_PER_MINUTE,
    creationLimitPerMinute: values.SITEWRIGHT_CREATION_LIMIT_PER_MINUTE,
    endedPhpVersions: values.SITEWRIGHT_ENDED_PHP_VERSIONS.split(",").filter((version) => version !== ""),
    backupDays: {
      manual: values.SITEWRIGHT_MANUAL_BACKUP_DAYS ?? values.SITEWRIGHT_BACKUP_DAYS,
      scheduled: values.SITEWRIGHT_SCHEDULED_BACKUP_DAYS ?? values.SITEWRIGHT_BACKUP_DAYS,
      "system-generated": values.SITEWRIGHT_SYSTEM_BACKUP_DAYS ?? values.SITEWRIGHT_BACKUP_DAYS,
    },
    undeleteDays: values.SITEWRIGHT_UNDELETE_DAYS ?? values.SITEWRIGHT_BACKUP_DAYS,
    backupHours: values.SITEWRIGHT_BACKUP_HOURS,
    fullBackupDays: values.SITEWRIGHT_FULL_BACKUP_DAYS,
    archiveReadDays: values.SITEWRIGHT_ARCHIVE_READ_DAYS,
    proofsPerDay: values.SITEWRIGHT_PROOFS_PER_DAY,
    archiveUrl: values.SITEWRIGHT_ARCHIVE_URL,
    archives: join(data, "archives"),
    downloadHours: values.SITEWRIGHT_DOWNLOAD_HOURS,
    downloads: join(data, "downloads"),
    environmentLogs: join(data, "environment-logs"),
    wpCliSeconds: values.SITEWRIGHT_WP_CLI_SECONDS,
    wporgUrl: values.SITEWRIGHT_WPORG_URL === "none" ? null : values.SITEWRIGHT_WPORG_URL,
    chromium: values.SITEWRIGHT_CHROMIUM,
    pictures: join(data, "pictures"),
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
    metricsToken: values.SITEWRIGHT_METRICS_TOKEN,
    cronRuns: values.SITEWRIGHT_CRON_RUNS,
    logLevel: values.SITEWRIGHT_LOG_LEVEL,
  });
}

function advisoriesOf({ SITEWRIGHT_ADVISORIES: place }: Settings): string | null {
  return place === null || /^https?:\/\//.test(place) ? place : resolve(place);
}

function acmeBindingOf(values: Settings): AcmeBinding | null {
  const { SITEWRIGHT_ACME_EAB_KEY_ID: keyId, SITEWRIGHT_ACME_EAB_KEY: key } = values;
  return keyId === null || key === null ? null : { keyId, key: Buffer.from(key, "base64url") };
}

function dnsSecondariesOf(values: Settings): DnsSecondaries | null {
  const { SITEWRIGHT_DNS_SECONDARIES: places, SITEWRIGHT_DNS_KEY: key } = values;
  return places === null || key === null ? null : { places: places.split(",").map(parsePlace), key: parseTsigKey(key) };
}

function powerDnsOf(values: Settings): PowerDnsPlace | null {
  const { SITEWRIGHT_POWERDNS_URL: url, SITEWRIGHT_POWERDNS_KEY: key, SITEWRIGHT_POWERDNS_ADDRESS: address } = values;
  return values.SITEWRIGHT_DNS_BACKEND === "own" || url === null || key === null
    ? null
    : { url: url.replace(/\/$/, ""), key, address };
}
