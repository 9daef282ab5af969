/** The small files in the data folder by which the supervisor of today tells others, and the one of tomorrow, what is so. */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The ports of the last start, and the suffix of sites' names: parts of addresses, so later starts keep them. */
export interface Chosen {
  readonly controlPort: number;
  readonly edgePort: number;
  /** Not there where the first start was one of a version without TLS. */
  readonly edgeTlsPort?: number;
  /** Not there where the first start was one of a version without DNS. */
  readonly dnsPort?: number;
  readonly siteSuffix: string;
}

/** There while the supervisor runs: how the operator's command finds the database. */
export interface RunRecord {
  readonly pid: number;
  readonly database_url: string;
  readonly api_url: string;
}

/** What the control process left for the person at its first start. */
export interface FirstRun {
  readonly company_id: string;
  readonly api_key: string;
  readonly admin_email: string;
}

/** There while a restore from a backup of the installation is under way, or was broken off. */
export interface RestoreRecord {
  readonly id: string;
}

/** Settings that held at the last start, as they would be given. */
export type SettingsRecord = Readonly<Record<string, string>>;

const chosenPath = (data: string) => join(data, "installation.json");
const runPath = (data: string) => join(data, "run.json");
const restorePath = (data: string) => join(data, "restore.json");
const settingsRecordPath = (data: string) => join(data, "last-start.json");
export const firstRunPath = (data: string): string => join(data, "first-run.json");

export const readChosen = (data: string): Chosen | null => read<Chosen>(chosenPath(data));
export const writeChosen = (data: string, chosen: Chosen): void => write(chosenPath(data), chosen);
export const readFirstRun = (data: string): FirstRun | null => read<FirstRun>(firstRunPath(data));
export const writeRun = (data: string, run: RunRecord): void => write(runPath(data), run);
export const readRun = (data: string): RunRecord | null => read<RunRecord>(runPath(data));
export const removeRun = (data: string): void => rmSync(runPath(data), { force: true });
export const readRestore = (data: string): RestoreRecord | null => read<RestoreRecord>(restorePath(data));
export const writeRestore = (data: string, restore: RestoreRecord): void => write(restorePath(data), restore);
export const removeRestore = (data: string): void => rmSync(restorePath(data), { force: true });
export const readLastStart = (data: string): SettingsRecord | null => read<SettingsRecord>(settingsRecordPath(data));
export const writeLastStart = (data: string, values: SettingsRecord): void => write(settingsRecordPath(data), values);

/** What stands in the way of everything else where a restore was broken off. */
export function brokenOffRestore(data: string): string | null {
  if (readRestore(data) === null) return null;
  return `A restore into ${data} was broken off. Repeat it, with the same settings: npm run --silent operator -- restore <file>`;
}

function read<T>(path: string): T | null {
  try {
    const value: T = JSON.parse(readFileSync(path, "utf8"));
    return value;
  } catch {
    return null;
  }
}

/** Whole or not at all, also when the power goes. */
function write(path: string, value: Chosen | RunRecord | RestoreRecord | SettingsRecord): void {
  const fresh = `${path}.new`;
  writeFileSync(fresh, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  const descriptor = openSync(fresh, "r");
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(fresh, path);
}
