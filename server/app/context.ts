/** Dependencies of the rules: those of the process (`App`) and those of a request (`Context`). */

import type { FileHandle } from "node:fs/promises";
import type { Capabilities, Runtime } from "@sitewright/runtimes/runtime.ts";
import type { Turns } from "@sitewright/runtimes/turns.ts";
import type { LookUp } from "@sitewright/server/domains/lookUp.ts";
import type { Logs } from "@sitewright/server/logs/logs.ts";
import type { SignInProvider } from "@sitewright/server/openid/signInProvider.ts";
import type { AcceptOperation } from "@sitewright/server/operations/engine/accept.ts";
import type { OperationWaits } from "@sitewright/server/operations/engine/wait.ts";
import type { SiteTasks } from "@sitewright/server/operations/steps/siteTasks.ts";
import type { PackageSource } from "@sitewright/server/packages/source.ts";
import type { Sealer } from "@sitewright/server/sealing.ts";
import type { BackupLists } from "@sitewright/server/store/backups/backupList.ts";
import type { FinishedBackup } from "@sitewright/server/store/backups/finishedBackup.ts";
import type { BatchedRead } from "@sitewright/server/store/batchedRead.ts";
import type { Actor, Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import type { CompanyPackageLists } from "@sitewright/server/store/packages/companyPackages.ts";
import type { ToRead } from "@sitewright/server/store/packages/packages.ts";
import type { SiteRecord } from "@sitewright/server/store/sites/sites.ts";
import type { Snapshots } from "@sitewright/server/store/snapshots.ts";
import type { Pool } from "pg";
import type { ScreenshotStore } from "../screenshots/screenshots.ts";
import type { BackupDifferences } from "./backups/backupDifferences.ts";
import type { DownloadTokens } from "./backups/downloadTokens.ts";
import type { Caller } from "./company/access.ts";
import type { EventFeeds } from "./company/eventFeeds.ts";
import type { Identities } from "./company/identities.ts";
import type { KeyUse } from "./company/keyUse.ts";
import type { RefusedKeys } from "./company/refusedKeys.ts";
import type { RepeatedActivity } from "./company/repeatedActivity.ts";
import type { MetricsOptions } from "./metrics.ts";
import type { InstallationProbes } from "./operator/probes.ts";

export interface Settings {
  /** Address of this machine as visitors know it. */
  readonly host: string;
  /** New sites are at `<name>.<siteSuffix>`. */
  readonly siteSuffix: string;
  /** The API's own name at the edge, or null. */
  readonly apiName: string | null;
  /** Where the API listens: an IP address. */
  readonly apiHost: string;
  /** Names of this installation's DNS servers, the primary one first. */
  readonly dnsNames: readonly string[];
  readonly publicPort: number;
  readonly publicTlsPort: number;
  /** Public addresses of the edge, which domains are to point to. */
  readonly edgeAddresses: readonly string[];
  /** PHP versions that have reached their end of life; environments are moved to a newer one. */
  readonly endedPhpVersions: readonly string[];
}

export interface Region {
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** Name of the runtime of new environments. */
  readonly runtime: string;
}

/** The first one is the default. */
export type Regions = readonly [Region, ...Region[]];

/** Upper bounds and defaults for the limits of environments. */
export interface InstallationLimits {
  /** Maximum number of PHP processes, all environments together. */
  readonly maxWorkers: number;
  /** Maximum memory of an environment's PHP for each request. */
  readonly maxPhpMemoryMb: number;
  /** The default time limit of a PHP request, and the highest that an environment may have. */
  readonly requestDeadlineSeconds: number;
  readonly maxRequestSeconds: number;
  /** Default quota of an environment, or null for no limit. */
  readonly diskQuotaBytes: number | null;
}

/** Shared by all requests. */
export interface App {
  readonly settings: Settings;
  readonly limits: InstallationLimits;
  /** Names of the runtimes that this installation has. */
  readonly runtimes: readonly string[];
  /** Returns what a runtime can do, by its name. */
  readonly capabilitiesOf: (runtime: string) => Capabilities;
  readonly listFiles: Runtime["listFiles"];
  readonly readLog: Logs["read"];
  /** The edge's state, or null if it does not answer. */
  readonly edgeNumbers: MetricsOptions["edgeNumbers"];

  readonly dataFolder: string;
  readonly installation: InstallationProbes;
  /** Resolves when the edge serves the routes of the database. */
  readonly publishRoutes: () => Promise<void>;
  readonly cronEvents: Runtime["cronEvents"];
  readonly findUser: Runtime["findUser"];
  /** Turns of companies at reading files and databases of sites. */
  readonly readings: Turns;
  /** Turns of companies at reading pages of their activity logs. */
  readonly exports: Turns;
  /** Turns of networks at checking passwords. */
  readonly passwordTurns: Turns;
  /** Turns of companies at transactions of API requests. */
  readonly transactions: Turns;
  /** Reads the installed plugins and themes of the environments now. */
  readonly readPackages: (environments: readonly ToRead[], signal: AbortSignal) => Promise<void>;
  readonly siteTasks: SiteTasks;
  /** Null if the installation has none. */
  readonly packageSource: PackageSource | null;
  /** DNS lookup. */
  readonly lookUp: LookUp;
  readonly pool: Pool;
  readonly repeatedActivity: RepeatedActivity;
  readonly refusedKeys: RefusedKeys;
  readonly backupLists: BackupLists;
  readonly companyPackages: CompanyPackageLists;
  readonly database: Database;
  readonly acceptOperation: AcceptOperation;
  readonly operationWaits: OperationWaits;
  readonly eventFeeds: EventFeeds;
  readonly downloadTokens: DownloadTokens;
  readonly identities: Identities;
  readonly snapshots: Snapshots;
  readonly readSite: BatchedRead<SiteRecord>;
  /** Records when keys are used. */
  readonly keyUse: KeyUse;
  /** How long a link to a downloadable backup is valid, in hours. */
  readonly downloadHours: number;
  /** Decrypts results that an operation has sealed. */
  readonly sealer: Sealer;
  /** The files that differ between two backups. Null if a list of files is damaged. */
  readonly compareBackups: (before: FinishedBackup, after: FinishedBackup) => Promise<BackupDifferences | null>;
  /** Opens the zip of a downloadable backup. Null if there is none. */
  readonly openDownload: (id: string) => Promise<OpenDownload | null>;
  /** The certificate authority's directory, or null if no certificates are ordered. */
  readonly acmeUrl: string | null;
  /** The regions for new sites. */
  readonly regions: Regions;
  /** Whether the installation has a mail server for the mail of sites, and of its own to people. */
  readonly hasMailServer: boolean;
  /** The OpenID Connect provider with which people can sign in, or null. */
  readonly signInProvider: SignInProvider | null;
  /** Whether the installation has a vulnerability feed. */
  readonly hasAdvisories: boolean;
  /** Whether screenshots of sites can be taken. */
  readonly hasBrowser: boolean;
  readonly findScreenshots: ScreenshotStore["find"];
  /** Whether the edge can locate visitors (GeoIP). */
  readonly knowsPlaces: boolean;
}

export interface OpenDownload {
  /** The caller closes it. */
  readonly handle: FileHandle;
  readonly bytes: number;
}

/** How a request reads and changes the database. */
export interface RequestDatabase {
  /** Sees the changes of earlier `inTransaction`. */
  readonly database: Database;
  /**
   * Runs in a new transaction, or in the request's own if it carries an `Idempotency-Key`. That one stays open until the
   * request is answered, so nothing but the database may be waited for from then on; see `afterCommit`. If the connection is lost
   * before COMMIT, the request's first `work` runs again; without an `Idempotency-Key`, every `work` does.
   */
  readonly inTransaction: <T>(work: (transaction: DatabaseTransaction) => Promise<T>) => Promise<T>;
}

/** One request. */
export interface Context extends App, RequestDatabase {
  readonly caller: Caller;
  readonly actor: Actor;
  /** The caller as they are now, or null if they may no longer make this call. For responses that stay open. */
  readonly callerNow: () => Promise<Caller | null>;
  /** The header `Last-Event-ID`, or null. */
  readonly lastEventId: string | null;
  /** The cookie of a sign-in through the provider, or empty. */
  readonly signInCookie: string;
  /** Runs in a transaction that ends before other work of the request, whatever happens to that. */
  readonly inOwnTransaction: RequestDatabase["inTransaction"];
  readonly whenBusy: "fail" | "queue";
  /** This server as the caller addressed it, `http://127.0.0.1:8080`; empty if the Host header is unusable. */
  readonly origin: string;
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal;
  /** Calls the listener when the client goes away, or has been answered. Takes less memory than `signal`. */
  readonly onGone: (listener: () => void) => void;
  /**
   * Reads files or databases of sites with the functions of `App` when it is the company's turn. Rejects when the client goes
   * away while it waits.
   */
  readonly readInTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Runs `work` after the request's transaction is committed and before the answer is sent. Skipped if it is rolled back. */
  readonly afterCommit: (work: () => Promise<void>) => void;
}
