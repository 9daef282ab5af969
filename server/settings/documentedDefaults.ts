/** What holds where a setting is not given, in words, for those whose default depends on the machine or on other settings. */
import { defaults, settings } from "./settings.ts";

const followsBackupDays = "`SITEWRIGHT_BACKUP_DAYS`";

const words: Readonly<Record<string, string>> = {
  SITEWRIGHT_DATA: "`./data`",
  SITEWRIGHT_ASSETS: "`assets` in the data folder",
  SITEWRIGHT_RUN: "a folder below the system's temporary one",
  DATABASE_URL: "a PostgreSQL that Sitewright starts itself",
  SITEWRIGHT_FIRST_API_KEY: "a random one",
  SITEWRIGHT_DNS_NAMES: "`ns1.` and the suffix",
  SITEWRIGHT_EDGE_ADDRESSES: "what `SITEWRIGHT_HOST` says",
  SITEWRIGHT_RESOLVER: "the machine's",
  SITEWRIGHT_MAX_WORKERS: "by memory, at most 32",
  SITEWRIGHT_MAX_PHP_MEMORY_MB: "by memory, at most 2048",
  SITEWRIGHT_CRON_RUNS: "half of the processors, at most 4",
  SITEWRIGHT_DISK_QUOTA_MB: "no limit",
  SITEWRIGHT_ARCHIVE_URL: "`archives` in the data folder",
  SITEWRIGHT_MANUAL_BACKUP_DAYS: followsBackupDays,
  SITEWRIGHT_SCHEDULED_BACKUP_DAYS: followsBackupDays,
  SITEWRIGHT_SYSTEM_BACKUP_DAYS: followsBackupDays,
  SITEWRIGHT_UNDELETE_DAYS: followsBackupDays,
  SITEWRIGHT_CHROMIUM: "where one usually is",
  SITEWRIGHT_MAIL_FROM: "the sender",
  SITEWRIGHT_ACME_CA_FILE: "the usual roots",
};

/** By name of the setting, in Markdown. */
export function documentedDefaults(): ReadonlyMap<string, string> {
  const values: Readonly<Record<string, unknown>> = defaults("data");
  return new Map(
    Object.keys(settings.entries).map((name) => {
      const value = values[name];
      return [name, words[name] ?? (value === null ? "none" : `\`${value}\``)];
    }),
  );
}
