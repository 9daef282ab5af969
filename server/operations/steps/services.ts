/** What the steps of operations work with. */
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import type { Archives } from "../../archives/archives.ts";
import type { Downloads } from "../../archives/downloads.ts";
import type { DnsClient } from "../../clients/dnsClient.ts";
import type { EdgeClient } from "../../clients/edgeClient.ts";
import type { PackageSource } from "../../packages/source.ts";
import type { Pictures } from "../../pictures/pictures.ts";
import type { Publisher } from "../../publishing/publishRoutes.ts";
import type { ZonePublisher } from "../../publishing/publishZones.ts";
import type { Sealer } from "../../sealing.ts";
import type { BackupType } from "../../store/backups/backups.ts";
import type { Database } from "../../store/database.ts";
import type { Probe } from "./probe.ts";
import type { SeeCandidate } from "./seeCandidate.ts";
import type { TryOut } from "./trial.ts";

export interface Services {
  readonly database: Database;
  readonly runtime: Runtime;
  readonly publisher: Publisher;
  readonly zones: Pick<ZonePublisher, "publish">;
  readonly dns: Pick<DnsClient, "serialOf">;
  readonly probe: Probe;
  readonly tryOut: TryOut;
  readonly see: SeeCandidate;
  /** Null: the machine has no browser. */
  readonly pictures: Pictures | null;
  /** Waits for the writes that began before an environment was frozen. */
  readonly settle: EdgeClient["settle"];
  /** Lets go of cached pages. */
  readonly purge: EdgeClient["purge"];
  readonly archives: Archives;
  /** For which a backup of each type is kept. */
  readonly backupDays: Readonly<Record<BackupType, number>>;
  /** For which what was deleted can be restored, and the newest backup of it is kept. */
  readonly undeleteDays: number;
  /** After which a scheduled backup reads everything again. */
  readonly fullBackupDays: number;
  /** After which a backup reads again what it takes over from those before. */
  readonly archiveReadDays: number;
  /** Of environments without a quota of their own; null: none. */
  readonly diskQuotaBytes: number | null;
  readonly downloads: Downloads;
  /** For which a link to a downloadable backup is good. */
  readonly downloadHours: number;
  /** Keeps what commands of WP-CLI have printed. */
  readonly sealer: Sealer;
  /** Where new versions of plugins and themes come from; null: nowhere. */
  readonly packageSource: PackageSource | null;
  /** After so long a command of WP-CLI is ended. */
  readonly wpCliSeconds: number;
}
