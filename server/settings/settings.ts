/**
 * All settings: environment variables, accepted values, and defaults.
 *
 * Uses valibot, unlike the contract, whose schemas are TypeBox's: every process reads the settings first, and loading TypeBox
 * takes a third of a second.
 */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { machineMemory } from "@sitewright/runtimes/processMemory.ts";
import { runtimeNames } from "@sitewright/runtimes/runtimeNames.ts";
import * as v from "valibot";
import { archiveUrlForm } from "./archiveUrl.ts";
import { tsigKeyForm, tsigKeyPattern } from "./dnsSettings.ts";

const whole = (minimum: number, maximum: number, description: string) =>
  v.pipe(
    v.number(),
    v.integer(),
    v.minValue(minimum),
    v.maxValue(maximum),
    v.description(`${description}: a whole number from ${minimum} to ${maximum}`),
  );
const text = (pattern: string, description: string) =>
  v.pipe(v.string(), v.regex(new RegExp(pattern)), v.description(description));
const textOrNone = (pattern: string, description: string) => v.nullable(text(pattern, description));

const label = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?";
const keptDays = (backups: string) => v.nullable(whole(1, 3_650, `how many days ${backups} are kept`));
const port = (service: string) => whole(0, 65_535, `the port of ${service} (0: any free one)`);

/** Errors and the documentation quote the descriptions. */
export const settings = v.object({
  SITEWRIGHT_DATA: text("^.+$", "the folder for all data"),
  SITEWRIGHT_HOST: text(
    "^[0-9A-Za-z.:_-]+$",
    "the address on which sites and DNS are served, such as 127.0.0.1 or 0.0.0.0",
  ),
  SITEWRIGHT_API_HOST: text(
    "^[0-9A-Fa-f.:]+$",
    "the address on which the API listens, without TLS: 127.0.0.1, or one in a private network",
  ),
  SITEWRIGHT_API_NAME: textOrNone(
    `^(?=.{1,253}$)${label}(\\.${label})+$`,
    "the host name of the API on the sites' TLS port, in lower case, such as api.example.com",
  ),
  SITEWRIGHT_API_CERTIFICATE: textOrNone(
    "^/.+$",
    "a PEM file with the certificate for SITEWRIGHT_API_NAME and its chain: an absolute path",
  ),
  SITEWRIGHT_API_CERTIFICATE_KEY: textOrNone("^/.+$", "a PEM file with the key of that certificate: an absolute path"),
  SITEWRIGHT_CONTROL_PORT: port("the API and the console"),
  SITEWRIGHT_EDGE_PORT: port("the sites"),
  SITEWRIGHT_EDGE_TLS_PORT: port("the sites over TLS"),
  SITEWRIGHT_PUBLIC_PORT: v.nullable(
    whole(
      1,
      65_535,
      "the sites' port in addresses, if visitors use another one, which is forwarded to SITEWRIGHT_EDGE_PORT",
    ),
  ),
  SITEWRIGHT_PUBLIC_TLS_PORT: v.nullable(whole(1, 65_535, "the same for the sites over TLS")),
  SITEWRIGHT_DNS_PORT: port("DNS, over UDP and TCP"),
  SITEWRIGHT_DNS_NAMES: textOrNone(
    `^${label}(\\.${label})+(,${label}(\\.${label})+)*$`,
    "the names of this installation's DNS servers, as given to registrars, separated by commas: ns1.example.net,ns2.example.net",
  ),
  SITEWRIGHT_DNS_SECONDARIES: textOrNone(
    "^[0-9A-Fa-f.:[\\],]+$",
    "the secondary DNS servers, separated by commas: 192.0.2.53:53,[2001:db8::53]:53",
  ),
  SITEWRIGHT_DNS_KEY: textOrNone(
    tsigKeyPattern,
    `the key that signs zone transfers: ${tsigKeyForm}, as for dig -y, in lower case`,
  ),
  SITEWRIGHT_DNS_BACKEND: v.pipe(
    v.picklist(["own", "powerdns"]),
    v.description("which server answers for the zones: own (the built-in one) or powerdns"),
  ),
  SITEWRIGHT_POWERDNS_URL: textOrNone(
    "^https?://[^\\s/?#]+/?$",
    "the address of PowerDNS's HTTP API, such as http://127.0.0.1:8082",
  ),
  SITEWRIGHT_POWERDNS_KEY: textOrNone("^[!-~]{1,200}$", "the key of PowerDNS's HTTP API: visible ASCII characters"),
  SITEWRIGHT_POWERDNS_ADDRESS: text(
    "^([0-9.]+|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}$",
    "the address and port where PowerDNS answers queries, such as 127.0.0.1:53",
  ),
  SITEWRIGHT_SITE_SUFFIX: text(
    `^(?=.{1,180}$)${label}(\\.${label})*$`,
    "the domain below which sites get their names, in lower case, such as localhost or sites.example.com",
  ),
  SITEWRIGHT_REGIONS: text(
    "^.+$",
    "the regions for new sites, separated by commas, the default one first: names, or names with the runtime of their new environments, as in this-machine,fast=playground",
  ),
  SITEWRIGHT_RUNTIME: v.pipe(
    v.picklist(runtimeNames),
    v.description(`the runtime of new environments in regions that name none: ${runtimeNames.join(" or ")}`),
  ),
  SITEWRIGHT_RESOLVER: textOrNone(
    "^([0-9.]+|\\[[0-9A-Fa-f:.]+\\]):[0-9]{1,5}$",
    "the address and port of the DNS resolver for customers' domains, such as 9.9.9.9:53 or [2620:fe::fe]:53",
  ),
  SITEWRIGHT_EDGE_ADDRESSES: textOrNone(
    "^[0-9A-Fa-f.:]+(,[0-9A-Fa-f.:]+)*$",
    "the public addresses that domains must point to, separated by commas: 203.0.113.7,2001:db8::7",
  ),
  SITEWRIGHT_TRUSTED_PROXIES: textOrNone(
    "^.+$",
    "the proxies in front of the sites or the API whose X-Forwarded-For is believed: addresses and networks, separated by commas: 10.1.2.3,2001:db8:1::/48",
  ),
  SITEWRIGHT_PHP_MAY_REACH: textOrNone(
    "^[0-9A-Fa-f.:/]+(,[0-9A-Fa-f.:/]+)*$",
    "the private networks that sites' PHP may connect to, separated by commas: 10.1.2.0/24,fd00:1::/64",
  ),
  SITEWRIGHT_GEOIP: textOrNone(
    "^.+$",
    "a location database in MaxMind's format (.mmdb), for redirect rules by country or city",
  ),
  DATABASE_URL: textOrNone(
    "^postgres(ql)?://.+$",
    "the URL of a PostgreSQL server of version 18 or newer, beginning with postgresql://",
  ),
  SITEWRIGHT_FIRST_API_KEY: textOrNone(
    "^[!-~]{16,200}$",
    "the API key to create at the first startup: 16 to 200 visible ASCII characters without spaces",
  ),
  SITEWRIGHT_ASSETS: text("^.+$", "the folder for WordPress and other unpacked downloads"),
  SITEWRIGHT_RUN: text("^.+$", "a folder with a short path, for sockets"),
  SITEWRIGHT_FIRST_USER_ID: whole(
    65_536,
    4_000_000_000,
    "if Sitewright is root: the first of 100,000 user ids for sites, which nothing else on the machine may have",
  ),
  SITEWRIGHT_PREPARED_WORKERS: whole(0, 32, "the number of prepared PHP workers, which wait for a site"),
  SITEWRIGHT_MAX_WORKERS: v.nullable(whole(1, 512, "the maximum number of PHP workers")),
  SITEWRIGHT_REQUEST_DEADLINE_SECONDS: whole(1, 3_600, "the default time limit for a PHP request, in seconds"),
  SITEWRIGHT_MAX_REQUEST_SECONDS: whole(
    1,
    3_600,
    "the highest time limit for PHP requests that the API accepts for an environment, in seconds; at least the default one",
  ),
  SITEWRIGHT_MAX_PHP_MEMORY_MB: whole(64, 16_384, "the highest memory limit of PHP for one environment, in MB"),
  SITEWRIGHT_DISK_RESERVE_MB: whole(
    0,
    1_000_000_000,
    "the disk space that sites must leave free, in MB; below it they can only read and delete files, and be deleted without a backup",
  ),
  SITEWRIGHT_DISK_QUOTA_MB: v.nullable(whole(1, 1_000_000_000, "the default disk quota of an environment, in MB")),
  SITEWRIGHT_PAGE_CACHE_MEMORY_MB: whole(1, 65_536, "the size of the page cache in memory, in MB"),
  SITEWRIGHT_PAGE_CACHE_DISK_MB: whole(0, 10_000_000, "the size of the page cache on disk, in MB"),
  SITEWRIGHT_IDLE_SECONDS: whole(1, 86_400, "how long an idle PHP worker is kept, in seconds"),
  SITEWRIGHT_UPLOAD_LIMIT_BYTES: whole(1, 1_073_741_824, "the largest upload to a site, in bytes"),
  SITEWRIGHT_CONNECTIONS_PER_ADDRESS: whole(
    10,
    1_000_000,
    "the most open connections from one IP address, or from one IPv6 /64, to the sites or to the API, and open requests to the API",
  ),
  SITEWRIGHT_RATE_LIMIT_PER_MINUTE: whole(
    1,
    10_000_000,
    "the rate limit of an API key, in requests per minute; a company may send twice as many",
  ),
  SITEWRIGHT_CREATION_LIMIT_PER_MINUTE: whole(
    1,
    10_000_000,
    "the rate limit of an API key for new sites, per minute; a company may send twice as many",
  ),
  SITEWRIGHT_ENDED_PHP_VERSIONS: text(
    "^(\\d+\\.\\d+(,\\d+\\.\\d+)*)?$",
    "PHP versions that have reached their end of life, such as 8.0,8.1: environments are moved to newer ones",
  ),
  SITEWRIGHT_ARCHIVE_URL: textOrNone("^.+$", `the location of backups: ${archiveUrlForm}`),
  SITEWRIGHT_BACKUP_DAYS: whole(1, 3_650, "how many days backups are kept"),
  SITEWRIGHT_MANUAL_BACKUP_DAYS: keptDays("manual backups"),
  SITEWRIGHT_SCHEDULED_BACKUP_DAYS: keptDays("scheduled backups"),
  SITEWRIGHT_SYSTEM_BACKUP_DAYS: keptDays("backups before changes"),
  SITEWRIGHT_UNDELETE_DAYS: v.nullable(
    whole(1, 3_650, "for how many days a deleted site or environment can be restored"),
  ),
  SITEWRIGHT_BACKUP_HOURS: whole(0, 168, "hours between scheduled backups of an environment (0: none)"),
  SITEWRIGHT_FULL_BACKUP_DAYS: whole(1, 365, "days after which a scheduled backup reads every file again"),
  SITEWRIGHT_ARCHIVE_READ_DAYS: whole(1, 365, "days within which all data in the archives is read and checked once"),
  SITEWRIGHT_PROOFS_PER_DAY: whole(1, 1_440, "the number of test restores per day"),
  SITEWRIGHT_DOWNLOAD_HOURS: whole(1, 8_760, "how many hours the link to a downloadable backup is valid"),
  SITEWRIGHT_WP_CLI_SECONDS: whole(1, 3_600, "the time limit for a WP-CLI command, in seconds"),
  SITEWRIGHT_WPORG_URL: text(
    "^(none|https?://[^\\s/?#@]+(/[^\\s?#]*)?)$",
    "the source of plugins, themes and WordPress updates: https://api.wordpress.org, the address of a mirror, or none",
  ),
  SITEWRIGHT_CHROMIUM: textOrNone(
    "^(none|/.+)$",
    "the browser for screenshots before and after updates: the path of a Chromium, or none",
  ),
  SITEWRIGHT_ADVISORIES: textOrNone(
    "^.+$",
    "the feed of vulnerabilities of plugins and themes, in Wordfence's format: an address, or the path of a file",
  ),
  SITEWRIGHT_SMTP_URL: textOrNone(
    "^smtps?://.+$",
    "the mail server for mail of sites, invitations and lost passwords: smtp://USER:PASSWORD@host:587, or smtps:// for implicit TLS",
  ),
  SITEWRIGHT_MAIL_FROM: textOrNone(
    `^[A-Za-z0-9._+=-]{1,64}@${label}(\\.${label})*$`,
    "the sender of invitations and mails about lost passwords, and the return address for undeliverable mail of sites, such as bounces@example.com",
  ),
  SITEWRIGHT_MAIL_PER_HOUR: whole(1, 1_000_000, "the limit of mail recipients per environment and hour"),
  SITEWRIGHT_MAIL_DAYS: whole(1, 3_650, "how many days mail of sites is kept"),
  SITEWRIGHT_ACME_URL: textOrNone(
    "^https://[^\\s]+$",
    "the directory of the certificate authority, such as https://acme-v02.api.letsencrypt.org/directory",
  ),
  SITEWRIGHT_ACME_EMAIL: textOrNone(
    `^[A-Za-z0-9._+=-]{1,64}@${label}(\\.${label})*$`,
    "the contact address for the certificate authority, such as admin@example.com",
  ),
  SITEWRIGHT_ACME_EAB_KEY_ID: textOrNone(
    "^[!-~]{1,500}$",
    "the id of the key for external account binding, from the certificate authority",
  ),
  SITEWRIGHT_ACME_EAB_KEY: textOrNone("^[A-Za-z0-9_-]{16,1000}$", "the key for external account binding, in base64url"),
  SITEWRIGHT_ACME_CA_FILE: textOrNone(
    "^.+$",
    "a PEM file with the root certificates for the certificate authority's own address",
  ),
  SITEWRIGHT_OIDC_ISSUER: textOrNone(
    "^(https://[^\\s?#@]+|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d{1,5})?(/[^\\s?#]*)?)$",
    "the OpenID Connect provider with which people can sign in: its issuer, such as https://login.example.com (http:// only on this machine)",
  ),
  SITEWRIGHT_OIDC_CLIENT_ID: textOrNone("^[!-~]{1,500}$", "the client id of this installation at that provider"),
  SITEWRIGHT_OIDC_CLIENT_SECRET: textOrNone(
    "^[!-~]{1,1000}$",
    "the client secret of this installation at that provider",
  ),
  SITEWRIGHT_OIDC_NAME: textOrNone("^\\S(.{0,48}\\S)?$", "the name of that provider for people, such as Example Login"),
  SITEWRIGHT_OIDC_EMAIL_DOMAINS: textOrNone(
    `^${label}(\\.${label})+(,${label}(\\.${label})+)*$`,
    "the only domains of e-mail addresses with which people can sign in through that provider, in lower case, separated by commas: example.com,example.org",
  ),
  SITEWRIGHT_METRICS_TOKEN: textOrNone(
    "^[!-~]{16,200}$",
    "the token for /metrics: 16 to 200 visible ASCII characters without spaces",
  ),
  SITEWRIGHT_CRON_RUNS: whole(0, 32, "the number of sites whose scheduled tasks run at the same time (0: none run)"),
  SITEWRIGHT_SECURITY_CONTACT: textOrNone(
    "^(mailto:[^\\s@,]+@[^\\s@,]+|https://[^\\s]+)$",
    "where to report vulnerabilities, published in /.well-known/security.txt: mailto:security@example.com or https://…",
  ),
  SITEWRIGHT_ACTIVITY_DAYS: whole(30, 36_500, "how many days the activity log is kept"),
  SITEWRIGHT_LOG_LEVEL: v.pipe(
    v.picklist(["silent", "fatal", "error", "warn", "info", "debug", "trace"]),
    v.description("the log level: silent, fatal, error, warn, info, debug or trace"),
  ),
});

export type Settings = v.InferOutput<typeof settings>;
export type Setting = (typeof settings.entries)[keyof typeof settings.entries];

/** Their values are never quoted in errors, since errors end up in logs. */
export const secretSettings = new Set([
  "DATABASE_URL",
  "SITEWRIGHT_FIRST_API_KEY",
  "SITEWRIGHT_ACME_EAB_KEY",
  "SITEWRIGHT_ARCHIVE_URL",
  "SITEWRIGHT_SMTP_URL",
  "SITEWRIGHT_METRICS_TOKEN",
  "SITEWRIGHT_OIDC_CLIENT_SECRET",
  "SITEWRIGHT_DNS_KEY",
  "SITEWRIGHT_POWERDNS_KEY",
]);

export const megabyte = 1_048_576;
/** `data` is the data folder, which contains the other folders by default. */
export function defaults(data: string): Settings {
  return {
    SITEWRIGHT_DATA: data,
    SITEWRIGHT_HOST: "127.0.0.1",
    SITEWRIGHT_API_HOST: "127.0.0.1",
    SITEWRIGHT_API_NAME: null,
    SITEWRIGHT_API_CERTIFICATE: null,
    SITEWRIGHT_API_CERTIFICATE_KEY: null,
    SITEWRIGHT_CONTROL_PORT: 8080,
    SITEWRIGHT_EDGE_PORT: 8081,
    SITEWRIGHT_EDGE_TLS_PORT: 8443,
    SITEWRIGHT_PUBLIC_PORT: null,
    SITEWRIGHT_PUBLIC_TLS_PORT: null,
    SITEWRIGHT_DNS_PORT: 8053,
    SITEWRIGHT_DNS_NAMES: null,
    SITEWRIGHT_DNS_SECONDARIES: null,
    SITEWRIGHT_DNS_KEY: null,
    SITEWRIGHT_DNS_BACKEND: "own",
    SITEWRIGHT_POWERDNS_URL: null,
    SITEWRIGHT_POWERDNS_KEY: null,
    SITEWRIGHT_POWERDNS_ADDRESS: "127.0.0.1:53",
    SITEWRIGHT_SITE_SUFFIX: "localhost",
    SITEWRIGHT_REGIONS: "this-machine",
    SITEWRIGHT_RUNTIME: "playground",
    SITEWRIGHT_RESOLVER: null,
    SITEWRIGHT_EDGE_ADDRESSES: null,
    SITEWRIGHT_TRUSTED_PROXIES: null,
    SITEWRIGHT_PHP_MAY_REACH: null,
    SITEWRIGHT_GEOIP: null,
    DATABASE_URL: null,
    SITEWRIGHT_FIRST_API_KEY: null,
    SITEWRIGHT_ASSETS: join(data, "assets"),
    SITEWRIGHT_RUN: shortFolder(data),
    SITEWRIGHT_FIRST_USER_ID: 200_000,
    // Enough for a laptop, and for one new site at a time. Each takes 280 MB.
    SITEWRIGHT_PREPARED_WORKERS: 1,
    SITEWRIGHT_MAX_WORKERS: null,
    SITEWRIGHT_REQUEST_DEADLINE_SECONDS: 60,
    SITEWRIGHT_MAX_REQUEST_SECONDS: 300,
    SITEWRIGHT_MAX_PHP_MEMORY_MB: Math.min(2_048, Math.max(256, Math.floor(machineMemory() / 8 / megabyte))),
    SITEWRIGHT_DISK_RESERVE_MB: 2_000,
    SITEWRIGHT_DISK_QUOTA_MB: null,
    SITEWRIGHT_PAGE_CACHE_MEMORY_MB: 128,
    SITEWRIGHT_PAGE_CACHE_DISK_MB: 1_024,
    SITEWRIGHT_IDLE_SECONDS: 300,
    SITEWRIGHT_UPLOAD_LIMIT_BYTES: 64 * megabyte,
    // Many visitors may share an address.
    SITEWRIGHT_CONNECTIONS_PER_ADDRESS: 1_000,
    SITEWRIGHT_RATE_LIMIT_PER_MINUTE: 6_000,
    SITEWRIGHT_CREATION_LIMIT_PER_MINUTE: 60,
    SITEWRIGHT_ENDED_PHP_VERSIONS: "8.1",
    SITEWRIGHT_ARCHIVE_URL: null,
    SITEWRIGHT_BACKUP_DAYS: 14,
    SITEWRIGHT_MANUAL_BACKUP_DAYS: null,
    SITEWRIGHT_SCHEDULED_BACKUP_DAYS: null,
    SITEWRIGHT_SYSTEM_BACKUP_DAYS: null,
    SITEWRIGHT_UNDELETE_DAYS: null,
    SITEWRIGHT_BACKUP_HOURS: 24,
    SITEWRIGHT_FULL_BACKUP_DAYS: 7,
    SITEWRIGHT_ARCHIVE_READ_DAYS: 7,
    SITEWRIGHT_PROOFS_PER_DAY: 24,
    SITEWRIGHT_DOWNLOAD_HOURS: 72,
    SITEWRIGHT_WP_CLI_SECONDS: 300,
    SITEWRIGHT_WPORG_URL: "https://api.wordpress.org",
    SITEWRIGHT_CHROMIUM: null,
    SITEWRIGHT_ADVISORIES: null,
    SITEWRIGHT_SMTP_URL: null,
    SITEWRIGHT_MAIL_FROM: null,
    SITEWRIGHT_MAIL_PER_HOUR: 200,
    SITEWRIGHT_MAIL_DAYS: 14,
    SITEWRIGHT_ACME_URL: null,
    SITEWRIGHT_ACME_EMAIL: null,
    SITEWRIGHT_ACME_EAB_KEY_ID: null,
    SITEWRIGHT_ACME_EAB_KEY: null,
    SITEWRIGHT_ACME_CA_FILE: null,
    SITEWRIGHT_OIDC_ISSUER: null,
    SITEWRIGHT_OIDC_CLIENT_ID: null,
    SITEWRIGHT_OIDC_CLIENT_SECRET: null,
    SITEWRIGHT_OIDC_NAME: null,
    SITEWRIGHT_OIDC_EMAIL_DOMAINS: null,
    SITEWRIGHT_METRICS_TOKEN: null,
    // Leaves processors to visitors.
    SITEWRIGHT_CRON_RUNS: Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2))),
    SITEWRIGHT_SECURITY_CONTACT: null,
    // More than a year, and not for ever: strangers can add entries.
    SITEWRIGHT_ACTIVITY_DAYS: 400,
    SITEWRIGHT_LOG_LEVEL: "info",
  };
}

/** A folder with a short path: the same for all paths of one data folder, but different for each user. */
function shortFolder(data: string): string {
  const identity = `${process.getuid?.() ?? ""}:${realPath(data)}`;
  return join(tmpdir(), `sitewright-${createHash("sha256").update(identity).digest("hex").slice(0, 12)}`);
}

/** Like `realpath`, but the folder need not exist yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path));
  }
}
