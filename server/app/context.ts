/** What the rules are given: the process's own things, and who is asking this time. */
import type { FileHandle } from "node:fs/promises";
import type { Capabilities, Runtime } from "@sitewright/runtimes/runtime.ts";
import type { LookUp } from "@sitewright/server/domains/lookUp.ts";
import type { Logs } from "@sitewright/server/logs/logs.ts";
import type { AcceptOperation } from "@sitewright/server/operations/engine/accept.ts";
import type { WaitForOperation } from "@sitewright/server/operations/engine/wait.ts";
import type { SiteTasks } from "@sitewright/server/operations/steps/siteTasks.ts";
import type { PackageSource } from "@sitewright/server/packages/source.ts";
import type { PictureStore } from "@sitewright/server/pictures/pictures.ts";
import type { Sealer } from "@sitewright/server/sealing.ts";
import type { BackupLists } from "@sitewright/server/store/backups/backupList.ts";
import type { Actor, Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { CompanyPackageLists } from "@sitewright/server/store/packages/companyPackages.ts";
import type { ToRead } from "@sitewright/server/store/packages/packages.ts";
import type { Pool } from "pg";
import type { DownloadTokens } from "./backups/downloadTokens.ts";
import type { Caller } from "./company/access.ts";
import type { MetricsOptions } from "./metrics.ts";

export interface Settings {
  /** Address of this machine as visitors know it. */
  readonly host: string;
  /** New sites are at `<name>.<siteSuffix>`. */
  readonly siteSuffix: string;
  /** Of this installation's DNS servers; the first is the primary one. */
  readonly dnsNames: readonly string[];
  readonly edgePort: number;
  readonly edgeTlsPort: number;
  /** Public addresses of the edge, which domains are to point to. */
  readonly edgeAddresses: readonly string[];
  /** Versions of PHP that environments are moved off. */
  readonly endedPhpVersions: readonly string[];
}

/** Within which environments have limits of their own. */
export interface InstallationLimits {
  /** PHP processes at once, of all environments together. */
  readonly maxWorkers: number;
  /** What one environment's PHP may be given for each request. */
  readonly maxPhpMemoryMb: number;
  readonly requestDeadlineSeconds: number;
  /** Of environments that have no quota of their own; null: none. */
  readonly diskQuotaBytes: number | null;
}

/** Lives as long as the process. */
export interface App {
  readonly settings: Settings;
  readonly limits: InstallationLimits;
  /** What the runtime can do. */
  readonly capabilities: Capabilities;
  readonly listFiles: Runtime["listFiles"];
  readonly readLog: Logs["read"];
  /** The edge's state, or null if it does not answer. */
  readonly edgeNumbers: MetricsOptions["edgeNumbers"];
  /** The folder that everything is kept in. */
  readonly dataFolder: string;
  /** Resolves when the edge serves what is in the database. */
  readonly publishRoutes: () => Promise<void>;
  readonly plannedEvents: Runtime["plannedEvents"];
  readonly findUser: Runtime["findUser"];
  /** Reads now which plugins and themes these have. */
  readonly readPackages: (environments: readonly ToRead[], signal: AbortSignal) => Promise<void>;
  readonly siteTasks: SiteTasks;
  /** Null: there is none. */
  readonly packageSource: PackageSource | null;
  /** Asks DNS. */
  readonly lookUp: LookUp;
  readonly pool: Pool;
  readonly backupLists: BackupLists;
  readonly companyPackages: CompanyPackageLists;
  readonly database: Database;
  readonly acceptOperation: AcceptOperation;
  readonly waitForOperation: WaitForOperation;
  readonly downloadTokens: DownloadTokens;
  /** How long a link to a downloadable backup is good, in hours. */
  readonly downloadHours: number;
  /** Opens what an operation has sealed for those who may read it. */
  readonly sealer: Sealer;
  /** The zip of a downloadable backup; null if there is none. */
  readonly openDownload: (id: string) => Promise<OpenDownload | null>;
  /** The directory of the authority that certificates are ordered from; null: none are. */
  readonly acmeUrl: string | null;
  /** Whether there is a mail server that what sites send is handed to. */
  readonly hasMailServer: boolean;
  /** Whether there is a feed of vulnerabilities. */
  readonly hasAdvisories: boolean;
  /** Whether pictures of sites can be taken. */
  readonly hasBrowser: boolean;
  readonly findPictures: PictureStore["find"];
  /** Whether the edge knows where visitors are. */
  readonly knowsPlaces: boolean;
}

export interface OpenDownload {
  /** To be closed by the caller. */
  readonly handle: FileHandle;
  readonly bytes: number;
}

/** The transaction of a request that carries an `Idempotency-Key`. */
export type RequestTransaction = DatabaseTransaction;

/** Lives as long as the request. */
export interface Context extends App {
  readonly caller: Caller;
  readonly actor: Actor;
  readonly whenBusy: "fail" | "queue";
  /** This server as the caller addressed it, `http://127.0.0.1:8080`; empty if it was not said in a way to repeat. */
  readonly origin: string;
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal;
  /** Done when what the request has changed is committed, and before it is answered; not at all where nothing is. */
  readonly afterCommit: (work: () => Promise<void>) => void;
  /** Runs in the request's transaction where it has one (`Idempotency-Key`), else in one of its own. */
  readonly inTransaction: <T>(work: (transaction: DatabaseTransaction) => Promise<T>) => Promise<T>;
}
