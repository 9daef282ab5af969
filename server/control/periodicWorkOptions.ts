/** What the reconcilers of the control process need. */
import type { EnvironmentRuntime } from "@sitewright/runtimes/runtime.ts";
import type { Logger } from "pino";
import type { KeyUse } from "../app/company/keyUse.ts";
import type { RepeatedActivity } from "../app/company/repeatedActivity.ts";
import type { Archives } from "../archives/archives.ts";
import type { Downloads } from "../archives/downloads.ts";
import type { DnsClient } from "../clients/dnsClient.ts";
import type { EdgeClient } from "../clients/edgeClient.ts";
import type { LookUp } from "../domains/lookUp.ts";
import type { Logs } from "../logs/logs.ts";
import type { Deliver } from "../mail/deliver.ts";
import type { Spool, SpooledMail } from "../mail/spool.ts";
import type { AcceptOperation } from "../operations/engine/accept.ts";
import type { PackageSource } from "../packages/source.ts";
import type { Publisher } from "../publishing/publishRoutes.ts";
import type { ZonePublisher } from "../publishing/publishZones.ts";
import type { Cron } from "../reconcilers/cron/runCron.ts";
import type { Sealer } from "../sealing.ts";
import type { Config } from "../settings/config.ts";
import type { ControlProcessCount } from "../store/controlProcesses.ts";
import type { Database } from "../store/database.ts";

export interface PeriodicWorkOptions {
  readonly database: Database;
  readonly publisher: Publisher;
  readonly zones: Pick<ZonePublisher, "reconcile" | "publish">;
  readonly dns: Pick<DnsClient, "textsOf">;
  readonly edge: EdgeClient;
  readonly runtime: EnvironmentRuntime;
  readonly cron: Cron;
  readonly archives: Archives;
  readonly downloads: Downloads;
  readonly logs: Logs;
  readonly acceptOperation: AcceptOperation;
  readonly repeatedActivity: RepeatedActivity;
  readonly writeRepeatedActivity: () => Promise<void>;
  readonly config: Config;
  /** By name of the runtime. */
  readonly phpVersions: ReadonlyMap<string, readonly string[]>;
  readonly spool: Spool;
  /** Null if there is no mail server. */
  readonly deliver: Deliver | null;
  readonly onBrokenMail: (mail: SpooledMail) => void;
  /** Aborted when the process stops, to end long runs. */
  readonly signal: AbortSignal;
  /** Rejects if the archives are not the ones that hold the backups. */
  readonly checkArchive: (signal: AbortSignal) => Promise<void>;
  readonly lookUp: LookUp;
  readonly keyUse: KeyUse;
  readonly processes: ControlProcessCount;
  /** Null if there is none. */
  readonly packageSource: PackageSource | null;
  readonly sealer: Sealer;
  /** Receives the challenges for the API's own name, which the API answers. */
  readonly apiChallenges: Map<string, string>;
  /** PEM of the roots for the certificate authority's own certificate, or null for the system's. */
  readonly acmeRoots: readonly string[] | null;
  readonly log: Logger;
}
