/** The services that the steps of operations use. */
import type { EnvironmentRuntime } from "@sitewright/runtimes/runtime.ts";
import type { Archives } from "../../archives/archives.ts";
import type { Downloads } from "../../archives/downloads.ts";
import type { DnsClient } from "../../clients/dnsClient.ts";
import type { EdgeClient } from "../../clients/edgeClient.ts";
import type { PackageSource } from "../../packages/source.ts";
import type { Publisher } from "../../publishing/publishRoutes.ts";
import type { ZonePublisher } from "../../publishing/publishZones.ts";
import type { Screenshots } from "../../screenshots/screenshots.ts";
import type { Sealer } from "../../sealing.ts";
import type { BackupType } from "../../store/backups/backups.ts";
import type { Database } from "../../store/database.ts";
import type { LoadCandidate } from "./loadCandidate.ts";
import type { Probe } from "./probe.ts";
import type { RunTrial } from "./trial.ts";

export interface Services {
  readonly database: Database;
  readonly runtime: EnvironmentRuntime;
  readonly publisher: Publisher;
  readonly zones: Pick<ZonePublisher, "publish">;
  readonly dns: Pick<DnsClient, "serialOf">;
  readonly probe: Probe;
  readonly runTrial: RunTrial;
  readonly loadForBrowser: LoadCandidate;
  /** Null if the machine has no browser. */
  readonly screenshots: Screenshots | null;
  /** Waits for writes that started before the environment was frozen. */
  readonly waitForWrites: EdgeClient["settle"];
  /** Purges cached pages. */
  readonly purge: EdgeClient["purge"];
  readonly archives: Archives;
  /** How long backups of each type are kept. */
  readonly backupDays: Readonly<Record<BackupType, number>>;
  /** How long deleted sites and environments can be restored. Their newest backup is kept that long. */
  readonly restorableDays: number;
  /** A scheduled backup reads all files if the last full read is this many days ago. */
  readonly fullBackupDays: number;
  /** A backup verifies archived pieces that it reuses if they were last read this many days ago. */
  readonly archiveReadDays: number;
  /** Disk quota of environments that have no own quota, or null for unlimited. */
  readonly diskQuotaBytes: number | null;
  readonly downloads: Downloads;
  /** How long a link to a downloadable backup is valid. */
  readonly downloadHours: number;
  /** Encrypts the output of WP-CLI commands. */
  readonly sealer: Sealer;
  /** The source of plugins, themes and WordPress versions, or null if none is configured. */
  readonly packageSource: PackageSource | null;
  /** Timeout of WP-CLI commands. */
  readonly wpCliSeconds: number;
}
