/**
 * Where WordPress runs: what every runtime offers, and nothing about how it does so.
 *
 * A runtime has two faces, because they live in different processes. `Runtime` makes and removes
 * environments; the control process calls it from the steps of operations, so every method is
 * idempotent and takes its identity from its input. `Serving` answers visitors' requests that need
 * PHP; the edge process owns it, so that sites keep answering while the control process is away.
 *
 * `conformance.ts` says in tests what this page says in words. Every runtime passes it.
 */
import type { Readable } from "node:stream";

export type MultisiteKind = "subdirectory" | "subdomain";

/** What a runtime can do, as data: the control plane asks here instead of knowing runtimes by name. */
export interface Capabilities {
  /** Versions of the form `8.3`, ascending. */
  readonly phpVersions: readonly string[];
  readonly defaultPhpVersion: string;
  /** Locales that can be installed, `en_US` among them. */
  readonly locales: readonly string[];
  readonly multisite: readonly MultisiteKind[];
}

/** How an environment is known to a runtime. `number` is unique on this installation and never reused. */
export interface EnvironmentRef {
  readonly id: string;
  readonly number: number;
}

/** A WordPress to be installed. Every text is what the person typed; the runtime escapes it for where it stores it. */
export interface WordPressInstall {
  /** Scheme, host and, where it is not the scheme's own, port: `http://demo.localhost:8081`. No final slash. */
  readonly address: string;
  readonly title: string;
  readonly adminUser: string;
  readonly adminEmail: string;
  /**
   * Made by `passwordDigest` in `runtimes/password.ts`: the password itself never gets this far. Null: nobody can log in
   * before `setAdminPassword`.
   */
  readonly adminPasswordDigest: string | null;
  /** One of `Capabilities.locales`. */
  readonly locale: string;
  readonly multisite: MultisiteKind | null;
}

export interface ProvisionSpec {
  readonly environment: EnvironmentRef;
  readonly phpVersion: string;
  /** Null: PHP, an empty database, and no WordPress. */
  readonly wordpress: WordPressInstall | null;
}

/** What an address becomes in a copy, wherever it stands: scheme, host and port, no final slash. */
export interface AddressChange {
  readonly from: string;
  readonly to: string;
}

/** A folder as `snapshot` makes one. */
export interface SnapshotFolder {
  readonly folder: string;
}

/**
 * An environment that begins as a copy of another one of the same runtime, with secrets of its own; or as an earlier
 * snapshot, which it then takes up where that one was: whoever was logged in still is.
 */
export interface CloneSpec {
  readonly environment: EnvironmentRef;
  readonly source: EnvironmentRef | SnapshotFolder;
  readonly addresses: readonly AddressChange[];
}

/**
 * The next release of an environment, made of parts of another one, or of an earlier snapshot, and of its own. Its
 * identity is `token`: one environment may have several releases that are staged, one for each token.
 */
export interface StageSpec {
  /** Whose next release it is. */
  readonly environment: EnvironmentRef;
  /** Letters, digits and hyphens. */
  readonly token: string;
  readonly source: EnvironmentRef | SnapshotFolder;
  /** Which of the source's files replace its own: all, these (relative to the web root), or none. */
  readonly files: "all" | readonly string[] | "none";
  /** Which of the source's tables replace its own: the whole database, these, or none. */
  readonly database: "all" | readonly string[] | "none";
  /** Applied to what comes from the source: texts in the database, and `wp-config.php`. Empty: nothing is changed. */
  readonly addresses: readonly AddressChange[];
}

/** What a staged release would change. Paths are relative to the web root; `listed` holds the first hundred. */
export interface StageChanges {
  readonly files: {
    readonly added: FileChanges;
    readonly changed: FileChanges;
    readonly removed: FileChanges;
  };
  /** Tables with rows of the target that the source does not have, or not with that content: they would be lost. */
  readonly lost: readonly { readonly table: string; readonly rows: number }[];
}

export interface FileChanges {
  readonly count: number;
  readonly bytes: number;
  /** The first hundred by path. */
  readonly listed: readonly { readonly path: string; readonly bytes: number }[];
}

/** A file, or a folder with what is in it, of a web root. `path` is relative to the web root and begins with a slash. */
export interface FileEntry {
  readonly name: string;
  readonly path: string;
  /** Present, maybe empty, for folders only. */
  readonly children?: readonly FileEntry[];
}

/**
 * What a WordPress is now, as far as one must know it to install such a one anew. The administrator is the one who has
 * been there longest; the locale may be one that can't be installed.
 */
export type WordPressFacts = Omit<WordPressInstall, "address" | "adminPasswordDigest">;

/** What was put together to run elsewhere. */
export interface SiteExport {
  /** Null where there is no WordPress. */
  readonly wordpressVersion: string | null;
  readonly multisite: MultisiteKind | null;
  /** How many are in `database.sql`; with none there is no such file. */
  readonly tables: number;
  /** Sentences about what is not quite as it was. */
  readonly notes: readonly string[];
}

/** What an environment takes of the disk, in bytes, and what is left of it. */
export interface DiskUse {
  readonly files: number;
  readonly database: number;
  readonly free: number;
}

/** By the table's name: how many rows it has. */
export type RowCounts = Readonly<Record<string, number>>;

/** What the edge must know to serve an environment from disk and through PHP. */
export interface EnvironmentLayout {
  /** Another number with each switch of `current`; a worker serves one release only. */
  readonly release: number;
  /** Absolute path of the web root of that release, symbolic links resolved. */
  readonly documentRoot: string;
  /** Folders of the web root that are served from elsewhere: `{ "wp-admin": "/…/wp-admin" }`. */
  readonly overlays: Readonly<Record<string, string>>;
  readonly multisite: MultisiteKind | null;
  /** Null where it has no WordPress. */
  readonly wordpressVersion: string | null;
}

/** Why a runtime could not do what was asked. `message` may be shown to the customer; `cause` is for the log. */
export class RuntimeFailure extends Error {
  override readonly name = "RuntimeFailure";
}

/** Nothing is wrong with what was asked: the disk is full. */
export class NoRoom extends RuntimeFailure {}

export type Progress = (update: {
  readonly phase: string;
  readonly done: number;
  readonly total: number | null;
}) => void;

export interface Runtime {
  readonly name: string;
  /** Fetches, verifies and unpacks whatever the runtime needs. Resumes where an earlier call broke off. */
  prepare(progress: Progress): Promise<void>;
  /** Known only after `prepare` has succeeded at some time on this machine. */
  capabilities(): Promise<Capabilities>;
  /** Makes the environment whole or not at all; called again for the same id it completes and changes nothing else. */
  provision(spec: ProvisionSpec): Promise<{ readonly wordpressVersion: string | null }>;
  /**
   * Gives the administrator of a WordPress that was provisioned without a password one, made of this digest. It may be
   * served by then. Where he has one, nothing is changed. Rejects with `RuntimeFailure` where the environment is absent.
   */
  setAdminPassword(environment: EnvironmentRef, digest: string): Promise<void>;
  /**
   * Makes the environment as a copy of the source as it is at some moment of the call: files, database, kind of
   * network. Whole or not at all; called again for the same id it completes and changes nothing else.
   */
  clone(spec: CloneSpec): Promise<{ readonly wordpressVersion: string | null }>;
  /** Takes the environment out of sight, so that it can still come back. Tolerates one that is absent or retired. */
  retire(environment: EnvironmentRef): Promise<void>;
  /** Undoes `retire`. Tolerates an environment that was never retired. */
  reinstate(environment: EnvironmentRef): Promise<void>;
  /** Removes the environment for good, retired or not. Tolerates one that is absent. */
  destroy(environment: EnvironmentRef): Promise<void>;
  /** Null where the environment is absent or retired. */
  layout(environment: EnvironmentRef): Promise<EnvironmentLayout | null>;

  /**
   * Builds the next release beside the one that is served, whole or not at all; again for the same token it
   * changes nothing. What comes from neither source nor copy is shared with the current release: what is written
   * to it meanwhile is not lost. `RuntimeFailure` names a file or table that the source doesn't have.
   */
  stage(spec: StageSpec): Promise<void>;
  /** Where the staged release is, as it would be served; null where nothing is staged under this token. */
  staged(environment: EnvironmentRef, token: string): Promise<EnvironmentLayout | null>;
  /**
   * Makes a copy of the release that is staged under this token, also of what that one shares with the current one: trying
   * it out changes nothing of either. Anew at each call. Gone after `unstage` and `prune`.
   */
  rehearse(environment: EnvironmentRef, token: string): Promise<EnvironmentLayout>;
  /** Makes the staged release the current one, by one rename. Again for the same token it changes nothing. */
  switchTo(environment: EnvironmentRef, token: string): Promise<void>;
  /** Undoes `switchTo`: the release before is the current one again. Tolerates a switch that never happened. */
  switchBack(environment: EnvironmentRef, token: string): Promise<void>;
  /** Removes what was staged under this token, built or half built, unless it is served. Tolerates that there is nothing. */
  unstage(environment: EnvironmentRef, token: string): Promise<void>;
  /** Removes what neither the current release nor the one before it needs. */
  prune(environment: EnvironmentRef): Promise<void>;
  /** What staging this would change, without changing anything. */
  compare(spec: Omit<StageSpec, "token">): Promise<StageChanges>;
  /**
   * Puts the environment's own files (`public`) and its database (`database`), consistent in itself, into the new `folder`,
   * to be read soon and removed. The files may be the environment's very own: nothing in the folder may be written to. All
   * of it is of one release: rejects with `RuntimeFailure`, and leaves nothing, where another one is switched to meanwhile,
   * or the environment is removed.
   */
  snapshot(environment: EnvironmentRef, folder: string): Promise<void>;
  /**
   * How many rows each table of its own has, of an environment at one moment, or of a snapshot. `RuntimeFailure` where the
   * environment is absent or the database is damaged. Rejects when `signal` is aborted.
   */
  countRows(source: EnvironmentRef | SnapshotFolder, signal: AbortSignal): Promise<RowCounts>;
  /**
   * Puts into the new `folder` what runs elsewhere, without this installation, on MySQL or MariaDB: the web root (`public`),
   * WordPress's own code in it, and the database as SQL that both import (`database.sql`); where there is no WordPress, its
   * databases besides, as they are (`database`). The files may be the snapshot's very own: nothing may be written to.
   */
  exportSite(source: SnapshotFolder, folder: string): Promise<SiteExport>;
  /** Every file and folder of the web root, by name; shared code as its folder only. Null where the environment is absent. */
  listFiles(environment: EnvironmentRef): Promise<readonly FileEntry[] | null>;
  /**
   * Null where the environment is absent or has no WordPress. `RuntimeFailure` says what is missing where the database is
   * not as WordPress makes one.
   */
  wordpress(environment: EnvironmentRef): Promise<WordPressFacts | null>;
  /** Null where the environment is absent. */
  diskUse(environment: EnvironmentRef): Promise<DiskUse | null>;
}

/** An environment as the serving side sees it: published as a whole list, replaced as a whole list. */
export interface ServedEnvironment extends EnvironmentRef, Omit<EnvironmentLayout, "wordpressVersion"> {
  readonly phpVersion: string;
  /** Another number than before: whatever runs for it is replaced, when it is done with what it does. Absent: 0. */
  readonly phpRun?: number;
  /** PHP reaches nothing outside of its own environment, not even its own address. Absent: false. */
  readonly isOffline?: boolean;
}

export interface PhpRequest {
  readonly method: string;
  /** Path and query as the visitor sent them. */
  readonly url: string;
  /** Path of the script below the web root, `/index.php` or `/wp-login.php`. */
  readonly script: string;
  /** What follows the script in the path (`PATH_INFO`), or the empty string. */
  readonly pathInfo: string;
  /** Lower-case names; as sent by the visitor, `host` included. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Readable | null;
  readonly remoteAddress: string;
  readonly https: boolean;
  /** True where PHP of this installation made the request: it is refused rather than made to wait for a worker. */
  readonly fromPhp: boolean;
  /** The visitor went away. */
  readonly signal: AbortSignal;
  /**
   * Every change to files and database is refused. Where PHP tries one there is no answer, but `wouldWrite`, and nothing
   * has changed. Absent: false.
   */
  readonly isReadOnly?: boolean;
}

export interface PhpResponse {
  readonly status: number;
  /** Pairs in order, repeated names kept (`set-cookie`). */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Readable;
  /** Resolves when PHP is done with the request, whether or not somebody still reads the body. Never rejects. */
  readonly finished: Promise<void>;
}

export interface TrialResponse extends PhpResponse {
  readonly errors: Promise<string>;
}

/** Why PHP gave no answer; the edge chooses the page. */
export type NoAnswerReason = "busy" | "deadline" | "crashed" | "unavailable" | "wouldWrite";

export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly reason: NoAnswerReason;
  constructor(reason: NoAnswerReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface Serving {
  /** The whole list of environments that may run. Workers of any other, or of an older release, are ended. */
  setEnvironments(environments: readonly ServedEnvironment[]): Promise<void>;
  /** Rejects with `NoAnswer` only. */
  handle(environmentId: string, request: PhpRequest): Promise<PhpResponse>;
  /**
   * Answers for an environment that is not served as it is given here: another release, another version of PHP. Visitors
   * notice nothing. What runs for it may be kept for a minute, for the case that it is served as it is next.
   * `errors` resolves, when the body has ended, with what PHP wrote to its log. Rejects with `NoAnswer` only.
   */
  tryOut(environment: ServedEnvironment, request: PhpRequest): Promise<TrialResponse>;
  /** Ends every worker. */
  close(): Promise<void>;
}
