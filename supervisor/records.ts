/** JSON files in the data folder that the supervisor writes for its next start and for the operator's commands. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSettings, sealSettings } from "@sitewright/server/sealedSettings.ts";
import type { Sealer } from "@sitewright/server/sealing.ts";

/** The ports and the site suffix of the last start. Later starts keep them, because they are part of sites' URLs. */
interface InstallationRecord {
  readonly controlPort: number;
  readonly edgePort: number;
  /** Missing if the last start was a version without TLS. */
  readonly edgeTlsPort?: number;
  /** The sites' ports in addresses. Missing if they are those above. */
  readonly publicPort?: number;
  readonly publicTlsPort?: number;
  /** Missing if the last start was a version without DNS. */
  readonly dnsPort?: number;
  readonly siteSuffix: string;
  /** The first user id of sites. Missing if every start was without root, or by an earlier version. */
  readonly firstUserId?: number;
}

/** Exists while the supervisor runs. The operator's commands read the database URL from it. */
interface RunRecord {
  readonly pid: number;
  readonly database_url: string;
  readonly api_url: string;
}

/** Credentials that control created at its first start. */
export interface FirstRun {
  readonly company_id: string;
  readonly api_key: string;
  readonly admin_email: string;
}

/** Exists while a restore of the installation is running, or after it was interrupted. */
interface RestoreRecord {
  readonly id: string;
}

/** The settings of the last start, by name. */
type SettingsRecord = Readonly<Record<string, string>>;

const installationPath = (data: string) => join(data, "installation.json");
const runPath = (data: string) => join(data, "run.json");
const restorePath = (data: string) => join(data, "restore.json");
const settingsRecordPath = (data: string) => join(data, "last-start.json");
export const firstRunPath = (data: string): string => join(data, "first-run.json");

export const readInstallation = (data: string): InstallationRecord | null =>
  read<InstallationRecord>(installationPath(data));
export const writeInstallation = (data: string, record: InstallationRecord): void =>
  write(installationPath(data), record);
export const readFirstRun = (data: string): FirstRun | null => read<FirstRun>(firstRunPath(data));
export const removeRun = (data: string): void => rmSync(runPath(data), { force: true });
export const readRestore = (data: string): RestoreRecord | null => read<RestoreRecord>(restorePath(data));
export const writeRestore = (data: string, restore: RestoreRecord): void => write(restorePath(data), restore);
export const removeRestore = (data: string): void => rmSync(restorePath(data), { force: true });

/** Seals the URL of a database that is not ours: it has a password. */
export function writeRun(data: string, run: RunRecord, sealer: Sealer | null): void {
  const { DATABASE_URL: database_url = run.database_url } = sealer
    ? sealSettings({ DATABASE_URL: run.database_url }, sealer)
    : {};
  write(runPath(data), { ...run, database_url });
}

export function readRun(data: string): RunRecord | null {
  const run = read<RunRecord>(runPath(data));
  if (run === null) return null;
  return { ...run, database_url: openSettings({ DATABASE_URL: run.database_url }, data).DATABASE_URL };
}

/** Seals secret settings. */
export function writeLastStart(data: string, values: SettingsRecord, sealer: Sealer): void {
  write(settingsRecordPath(data), sealSettings(values, sealer));
}

export function readLastStart(data: string): SettingsRecord | null {
  const values = read<SettingsRecord>(settingsRecordPath(data));
  return values && openSettings(values, data);
}

/** The error message if a restore was interrupted, otherwise null. Nothing else may run until it is repeated. */
export function interruptedRestoreMessage(data: string): string | null {
  if (readRestore(data) === null) return null;
  return `A restore into ${data} was interrupted. Repeat it with the same settings: npm run --silent operator -- restore <file>`;
}

function read<T>(path: string): T | null {
  try {
    const value: T = JSON.parse(readFileSync(path, "utf8"));
    return value;
  } catch {
    return null;
  }
}

/** Atomic and durable, even if the power fails. */
function write(path: string, value: InstallationRecord | RunRecord | RestoreRecord | SettingsRecord): void {
  const temporary = `${path}.new`;
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  const descriptor = openSync(temporary, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(temporary, path);
}
