/** Default values for the documentation. Describes defaults that depend on the machine or on other settings in words. */
import { defaults, settings } from "./settings.ts";

const sameAsBackupDays = "`SITEWRIGHT_BACKUP_DAYS`";

const descriptions: Readonly<Record<string, string>> = {
  SITEWRIGHT_DATA: "`./data`",
  SITEWRIGHT_ASSETS: "`assets` in the data folder",
  SITEWRIGHT_RUN: "a folder in the system's temporary folder",
  DATABASE_URL: "a PostgreSQL that Sitewright starts itself",
  SITEWRIGHT_FIRST_API_KEY: "a random one",
  SITEWRIGHT_PUBLIC_PORT: "`SITEWRIGHT_EDGE_PORT`",
  SITEWRIGHT_PUBLIC_TLS_PORT: "`SITEWRIGHT_EDGE_TLS_PORT`",
  SITEWRIGHT_DNS_NAMES: "`ns1.` and the suffix",
  SITEWRIGHT_EDGE_ADDRESSES: "`SITEWRIGHT_HOST`, or all of the machine's if that is `0.0.0.0`",
  SITEWRIGHT_RESOLVER: "the machine's",
  SITEWRIGHT_MAX_WORKERS: "by memory, at most 32, or 128 with native PHP",
  SITEWRIGHT_MAX_PHP_MEMORY_MB: "by memory, at most 2048",
  SITEWRIGHT_CRON_RUNS: "half of the processors, at most 4",
  SITEWRIGHT_DISK_QUOTA_MB: "no limit",
  SITEWRIGHT_ARCHIVE_URL: "`archives` in the data folder",
  SITEWRIGHT_MANUAL_BACKUP_DAYS: sameAsBackupDays,
  SITEWRIGHT_SCHEDULED_BACKUP_DAYS: sameAsBackupDays,
  SITEWRIGHT_SYSTEM_BACKUP_DAYS: sameAsBackupDays,
  SITEWRIGHT_UNDELETE_DAYS: sameAsBackupDays,
  SITEWRIGHT_CHROMIUM: "an installed Chromium, if any",
  SITEWRIGHT_MAIL_FROM:
    "for mail of sites, the message's sender; for mail to people, `sitewright@` and `SITEWRIGHT_API_NAME`, or else `SITEWRIGHT_SITE_SUFFIX`",
  SITEWRIGHT_ACME_CA_FILE: "the built-in root certificates",
  SITEWRIGHT_OIDC_NAME: "the host of the issuer",
  SITEWRIGHT_OIDC_EMAIL_DOMAINS: "all",
};

/** Returns the defaults in Markdown, by name of the setting. */
export function documentedDefaults(): ReadonlyMap<string, string> {
  const values: Readonly<Record<string, unknown>> = defaults("data");
  return new Map(
    Object.keys(settings.entries).map((name) => {
      const value = values[name];
      return [name, descriptions[name] ?? (value === null ? "none" : `\`${value}\``)];
    }),
  );
}
