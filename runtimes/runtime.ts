/**
 * A runtime runs WordPress. This file defines what every runtime offers, independent of its implementation.
 *
 * A runtime has two interfaces, because they live in different processes. `Runtime` creates and removes environments.
 * The control process calls it from the steps of operations, so every method is idempotent and takes its identity from
 * its input. `Serving`, in `serving.ts`, answers requests.
 *
 * `conformance.ts` tests what this file promises. Every runtime passes it.
 */
export type MultisiteKind = "subdirectory" | "subdomain";

/** What a runtime supports, as data: the control plane reads this instead of knowing runtimes by name. */
export interface Capabilities {
  /** Versions of the form `8.3`, ascending. */
  readonly phpVersions: readonly string[];
  readonly defaultPhpVersion: string;
  /** Locales that can be installed, `en_US` among them. */
  readonly locales: readonly string[];
  readonly multisite: readonly MultisiteKind[];
}

/** Identifies an environment. `number` is unique on this installation and never reused. */
export interface EnvironmentRef {
  readonly id: string;
  readonly number: number;
  /** Name of the runtime that it runs under. Absent: the recorded one. Only `severalRuntimes.ts` reads it. */
  readonly runtime?: string;
  /**
   * The company that work on its files counts towards, and takes turns with others. Absent: none; it has turns of its own, and a
   * small part of the processors.
   */
  readonly companyId?: string;
}

/** An environment whose packages have been read. */
export interface ReadEnvironment extends EnvironmentRef {
  readonly readAt: Date;
}

/** A WordPress to install. Texts are as the user typed them; the runtime escapes them for its storage. */
export interface WordPressInstall {
  /** Scheme, host, and port unless it is the scheme's default: `http://demo.localhost:8081`. No trailing slash. */
  readonly address: string;
  readonly title: string;
  readonly adminUser: string;
  readonly adminEmail: string;
  /**
   * Result of `passwordDigest` in `runtimes/password.ts`: the password itself never gets this far. Null: no one can log
   * in before `setAdminPassword`.
   */
  readonly adminPasswordDigest: string | null;
  /** One of `Capabilities.locales`. */
  readonly locale: string;
  readonly multisite: MultisiteKind | null;
}

export interface ProvisionSpec {
  readonly environment: EnvironmentRef;
  readonly phpVersion: string;
  /** Null: PHP and an empty database, without WordPress. */
  readonly wordpress: WordPressInstall | null;
}

/** Replaces an address in a copy, wherever it occurs. Scheme, host and port, no trailing slash. */
export interface AddressChange {
  readonly from: string;
  readonly to: string;
}

/** A folder that `snapshot` has filled. Every runtime can read it. */
export interface SnapshotFolder {
  readonly folder: string;
  /** As in `EnvironmentRef`. */
  readonly companyId?: string;
}

/**
 * Creates an environment as a copy of another environment, with new secrets, or from a snapshot, with the snapshot's
 * secrets, so that users stay logged in.
 */
export interface CloneSpec {
  readonly environment: EnvironmentRef;
  readonly source: EnvironmentRef | SnapshotFolder;
  readonly addresses: readonly AddressChange[];
}

/**
 * Describes the next release of an environment, made of its own parts and parts of another environment or a snapshot.
 * `token` identifies it: an environment may have several staged releases, one for each token.
 */
export interface StageSpec {
  /** The environment that gets the release. */
  readonly environment: EnvironmentRef;
  /** Letters, digits and hyphens. */
  readonly token: string;
  readonly source: EnvironmentRef | SnapshotFolder;
  /** The source's files that replace the environment's: all, these (relative to the web root), or none. */
  readonly files: "all" | readonly string[] | "none";
  /** The source's tables that replace the environment's: the whole database, these, or none. */
  readonly database: "all" | readonly string[] | "none";
  /**
   * Applied to everything that comes from the source: texts in the database, and `wp-config.php`. Empty: no changes.
   */
  readonly addresses: readonly AddressChange[];
}

/**
 * The changes that staging a release would make. Paths are relative to the web root; `listed` holds the first hundred.
 */
export interface StageChanges {
  readonly files: {
    readonly added: FileChanges;
    readonly changed: FileChanges;
    readonly removed: FileChanges;
  };
  /** Tables with rows that the source doesn't have, or has with other content. These rows would be lost. */
  readonly lost: readonly { readonly table: string; readonly rows: number }[];
}

export interface FileChanges {
  readonly count: number;
  readonly bytes: number;
  /** The first hundred, sorted by path. */
  readonly listed: readonly { readonly path: string; readonly bytes: number }[];
}

/** A file, or a folder with its content. `path` is relative to the web root and begins with a slash. */
export interface FileEntry {
  readonly name: string;
  readonly path: string;
  /** Only for folders; may be empty. */
  readonly children?: readonly FileEntry[];
}

/**
 * Facts about an installed WordPress, enough to install it again from scratch. The administrator is the oldest one; the
 * locale may be one that can't be installed.
 */
export type WordPressFacts = Omit<WordPressInstall, "address" | "adminPasswordDigest">;

/** A WordPress user. `isAdministrator`: in a network, of the main site or of the whole network. */
export interface WordPressUser {
  readonly id: number;
  readonly login: string;
  readonly isAdministrator: boolean;
}

export interface UserSearch {
  /** Null if no user has that e-mail address. */
  readonly user: WordPressUser | null;
}

/** Describes an exported site. */
export interface SiteExport {
  /** Null if there is no WordPress. */
  readonly wordpressVersion: string | null;
  readonly multisite: MultisiteKind | null;
  /** Kind of the site's own database files, such as `SQLite`. */
  readonly databaseKind: string;
  /** Number of tables in `database.sql`; if 0, the file doesn't exist. */
  readonly tables: number;
  /** Sentences about differences from the original site. */
  readonly notes: readonly string[];
}

/** A WP-Cron event: something WordPress runs later. */
export interface CronEvent {
  readonly hook: string;
  /** Milliseconds since 1970. */
  readonly dueAt: number;
  /** Name of its recurrence, such as `hourly`; null if it runs once. */
  readonly recurrence: string | null;
  /** Null if it runs once, or WordPress did not store an interval. */
  readonly intervalSeconds: number | null;
  /** Arguments of the hook, as far as JSON can express them. */
  readonly args: readonly unknown[];
}

/** Address of one site in a network: the `Host` of requests to it, and the prefix of its paths (`/two/`). */
export interface NetworkSite {
  readonly host: string;
  readonly path: string;
}

/** The events of one site. `place` is null if there is no network, and so only one site. */
export interface SiteCronEvents {
  readonly place: NetworkSite | null;
  readonly events: readonly CronEvent[];
}

/** The next event of one site. `dueAt` in milliseconds since 1970. */
export interface NextEvent {
  readonly place: NetworkSite | null;
  readonly dueAt: number;
}

/** The next events of an environment. `problem` says which events can't be read and are left out. */
export interface NextEvents {
  /** One for each site that has events. */
  readonly events: readonly NextEvent[];
  readonly problem: string | null;
}

export interface CronEvents {
  readonly sites: readonly SiteCronEvents[];
  /** Says which events can't be read and are left out, or null. */
  readonly problem: string | null;
}

export type PackageKind = "plugin" | "theme";

/** A plugin or theme in an environment's web root, described by its header. Texts may be empty. */
export interface InstalledPackage {
  readonly kind: PackageKind;
  /** Its folder; for a plugin that is a single file, the file name without `.php`. */
  readonly name: string;
  /** WordPress's name for it: `akismet/akismet.php`; for a theme, its folder. */
  readonly file: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  /** Its `Update URI`, or null if it has none; it is then updated from WordPress.org, if it is listed there. */
  readonly updateUri: string | null;
  /** In a network: active on any of its sites. A theme is also active if a child theme of it is. */
  readonly isActive: boolean;
  /** Whether WordPress updates it automatically. */
  readonly isAutoUpdated: boolean;
}

/** A version of WordPress, unpacked into a folder: `wp-admin`, `wp-includes` and the files next to them. */
export interface NewWordPress {
  readonly version: string;
  readonly folder: string;
}

/** A plugin or theme to install into a release. */
export interface NewPackage {
  readonly kind: PackageKind;
  /** Name of its folder in the web root; not a path. */
  readonly name: string;
  /** The folder whose content is copied. */
  readonly folder: string;
}

/** Packages sorted by kind and name. `problem` says what can't be read; `isActive` is then unknown or incomplete. */
export interface InstalledPackages {
  readonly packages: readonly InstalledPackage[];
  readonly problem: string | null;
}

/** Disk usage of an environment in bytes. */
export interface DiskUse {
  readonly files: number;
  readonly database: number;
  /** Sessions and temporary files, which belong to no release. */
  readonly temporary: number;
}

/** Number of rows by table name. */
export type RowCounts = Readonly<Record<string, number>>;

/** Everything the edge needs to serve an environment from disk and through PHP. */
export interface EnvironmentLayout {
  /** Changes with each switch of `current`; a worker serves one release only. */
  readonly release: number;
  /** Absolute path of the web root of that release, symbolic links resolved. */
  readonly documentRoot: string;
  /** Folders of the web root that are stored elsewhere: `{ "wp-admin": "/…/wp-admin" }`. */
  readonly overlays: Readonly<Record<string, string>>;
  readonly multisite: MultisiteKind | null;
  /** Null if there is no WordPress. */
  readonly wordpressVersion: string | null;
}

/** A literal, case-sensitive replacement in the texts of a database. `search` is not empty. */
export interface TextChange {
  readonly search: string;
  readonly replace: string;
}

/** The replacements made, or that would be made. */
export interface Replacements {
  /** Only columns with matches. `rows` counts rows with at least one of the `occurrences`. */
  readonly places: readonly {
    readonly table: string;
    readonly column: string;
    readonly rows: number;
    readonly occurrences: number;
  }[];
  /**
   * Matches that are kept, because replacing them would break the value they are in. `listed` holds the first hundred.
   */
  readonly skipped: {
    readonly occurrences: number;
    readonly listed: readonly {
      readonly table: string;
      readonly column: string;
      /** Identifies the row: its number or its key. */
      readonly row: string;
      readonly occurrences: number;
    }[];
  };
  /** The site's own addresses that change, each with its location. */
  readonly addresses: readonly { readonly place: string; readonly from: string; readonly to: string }[];
}

export interface StageReplacementSpec {
  readonly environment: EnvironmentRef;
  /** As in `StageSpec`. */
  readonly token: string;
  readonly change: TextChange;
}

/** Changes the address of a site that stays where it is. */
export interface StageAddressSpec {
  readonly environment: EnvironmentRef;
  /** As in `StageSpec`. */
  readonly token: string;
  /** `from`: the current address. Any other URL that WordPress uses as its own address also becomes `to`. */
  readonly change: AddressChange;
  /** Whether to change all texts of the database, or only the options in which WordPress stores its own address. */
  readonly isEverywhere: boolean;
}

/** A command of WP-CLI. */
export interface WpCliCommand {
  /** Companies take turns if many commands wait. Absent: the environment counts as one. */
  readonly companyId?: string;
  readonly phpVersion: string;
  /** Without `wp` itself. */
  readonly argv: readonly string[];
  /** Time limit; the command is then killed. */
  readonly seconds: number;
  /** PHP's memory limit. Absent: the default. */
  readonly memoryMb?: number;
  /** By how many bytes the environment may grow; negative if it is over its quota. Null or absent: unlimited. */
  readonly diskLeftBytes?: number | null;
  /** Whether it may connect to mail servers. Absent: false. */
  readonly maySendMail?: boolean;
}

export interface WpCliText {
  /** The whole text, or its beginning and end with a note in between. */
  readonly text: string;
  /** Size of the whole text. */
  readonly bytes: number;
  readonly isTruncated: boolean;
}

/** How a command ended: by itself, by exceeding a limit, or because PHP crashed. */
export type WpCliEnd = "itself" | "time" | "output" | "memory" | "crash";

export interface WpCliOutcome {
  readonly stdout: WpCliText;
  readonly stderr: WpCliText;
  /** Null unless the command ended by itself. */
  readonly exitCode: number | null;
  readonly end: WpCliEnd;
  /** False if the command has certainly changed nothing that pages show. */
  readonly mayHaveChanged: boolean;
}

/** Why a runtime could not do something. `message` may be shown to the customer; `cause` is for the log. */
export class RuntimeFailure extends Error {
  override readonly name = "RuntimeFailure";
}

/** The disk is full. */
export class DiskFull extends RuntimeFailure {}

export type Progress = (update: {
  readonly phase: string;
  readonly done: number;
  readonly total: number | null;
}) => void;

/** What a runtime does with environments, or several runtimes, each with its own (`severalRuntimes.ts`). */
export interface EnvironmentRuntime {
  /**
   * Creates the environment atomically. Called again for the same id, it completes the work and changes nothing else.
   */
  provision(spec: ProvisionSpec): Promise<{ readonly wordpressVersion: string | null }>;
  /**
   * Sets the password of the administrator of a WordPress that was provisioned without one. The environment may already
   * be served. Does nothing if the administrator has a password. Rejects with `RuntimeFailure` if the environment
   * doesn't exist.
   */
  setAdminPassword(environment: EnvironmentRef, digest: string): Promise<void>;
  /**
   * Creates the environment atomically as a copy of the source at some moment during the call: files, database, kind of
   * network. Called again for the same id, it completes the work and changes nothing else.
   */
  clone(spec: CloneSpec): Promise<{ readonly wordpressVersion: string | null }>;
  /** Hides the environment, so that it can be restored later. Does nothing if it doesn't exist or is retired. */
  retire(environment: EnvironmentRef): Promise<void>;
  /** Undoes `retire`. Does nothing if the environment is not retired. */
  reinstate(environment: EnvironmentRef): Promise<void>;
  /** Removes the environment for good, retired or not. Does nothing if it doesn't exist. */
  destroy(environment: EnvironmentRef): Promise<void>;
  /**
   * Returns where the current release is, or null if the environment doesn't exist, is retired, or its release is
   * missing.
   */
  layout(environment: EnvironmentRef): Promise<EnvironmentLayout | null>;

  /**
   * Builds the next release atomically, next to the one that is served. Does nothing if the token's release exists.
   * Parts not taken from the source are shared with the current release, so that later writes to them are not lost.
   * Throws `RuntimeFailure` naming a file or table that the source doesn't have.
   */
  stage(spec: StageSpec): Promise<void>;
  /** Returns where the staged release is, as it would be served, or null if nothing is staged under this token. */
  staged(environment: EnvironmentRef, token: string): Promise<EnvironmentLayout | null>;
  /**
   * Copies the staged release, including the parts it shares with the current one, so that trying out the copy changes
   * neither. Each call makes a new copy. `unstage` and `prune` remove it.
   */
  rehearse(environment: EnvironmentRef, token: string): Promise<EnvironmentLayout>;
  /**
   * Installs packages into the release that is staged under this token and has its own files, replacing packages of the
   * same name. Null: into the current release of an environment that is not served yet. Idempotent. Throws
   * `RuntimeFailure` if there is no such release, or it has no folder for packages.
   */
  installPackages(environment: EnvironmentRef, token: string | null, packages: readonly NewPackage[]): Promise<void>;
  /**
   * Installs a version of WordPress core into the release that is staged under this token and has its own files. The
   * site owner's files stay (`wordpressFiles.ts`). WordPress updates its database on request later. Idempotent. Throws
   * `RuntimeFailure` if there is no such release, or it has no WordPress.
   */
  installWordPress(environment: EnvironmentRef, token: string, wordpress: NewWordPress): Promise<void>;
  /** Makes the staged release the current one, by one rename. Does nothing if it already is. */
  switchTo(environment: EnvironmentRef, token: string): Promise<void>;
  /** Undoes `switchTo`: the previous release becomes the current one again. Does nothing if there was no switch. */
  switchBack(environment: EnvironmentRef, token: string): Promise<void>;
  /**
   * Removes the release staged under this token, complete or partial, unless it is served. Does nothing if there is
   * none.
   */
  unstage(environment: EnvironmentRef, token: string): Promise<void>;
  /** Removes releases, and parts of them, that neither the current release nor the previous one needs. */
  prune(environment: EnvironmentRef): Promise<void>;
  /** Returns what staging this would change, without changing anything. */
  compare(spec: Omit<StageSpec, "token">): Promise<StageChanges>;
  /**
   * Puts the environment's files (`public`) and a consistent copy of its database (`database`) into the new `folder`,
   * to be read soon and then removed. Nothing in the folder may be written to: the files may be hard links to the
   * environment's. All content is of one release: rejects with `RuntimeFailure`, leaving nothing, if the environment is
   * switched or removed meanwhile.
   */
  snapshot(environment: EnvironmentRef, folder: string): Promise<void>;
  /**
   * Counts the rows of each table, of an environment at one moment or of a snapshot. Rejects with `RuntimeFailure` if
   * the environment doesn't exist or the database is damaged, and when `signal` is aborted.
   */
  countRows(source: EnvironmentRef | SnapshotFolder, signal: AbortSignal): Promise<RowCounts>;
  /**
   * Exports a site into the new `folder`, to run on MySQL or MariaDB without this installation: the web root (`public`)
   * with WordPress core in it, and the database as SQL for both (`database.sql`). Without WordPress, also the database
   * files (`database`). Nothing may be written to: the files may be hard links to the snapshot's.
   */
  exportSite(source: SnapshotFolder, folder: string): Promise<SiteExport>;
  /**
   * Runs a WP-CLI command with the environment's files, database and permissions, and an empty standard input. `begin`
   * is called once, immediately before the command starts; if this rejects before or in `begin`, nothing was changed.
   * Not idempotent. Rejects when `signal` is aborted. When this settles, or when the calling process ends, the command
   * is no longer running.
   */
  runWpCli(
    environment: EnvironmentRef,
    command: WpCliCommand,
    begin: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<WpCliOutcome>;
  /**
   * Counts what would be replaced now, without changing anything. Rejects with `RuntimeFailure` if the environment
   * doesn't exist, and when `signal` is aborted.
   */
  countReplacements(environment: EnvironmentRef, change: TextChange, signal: AbortSignal): Promise<Replacements>;
  /**
   * Builds the next release with a copy of the environment's database in which the texts are replaced; the files are
   * shared with the current release. Otherwise like `stage`. Called again for the same token, it returns the same
   * result.
   */
  stageReplacement(spec: StageReplacementSpec): Promise<Replacements>;
  /**
   * Builds the next release with a copy of the environment's database in which WordPress has the new address. The files
   * are shared with the current release, unless the configuration contains the address. Otherwise like `stage`.
   */
  stageAddress(spec: StageAddressSpec): Promise<void>;
  /**
   * Lists all files and folders of the web root by name; of shared code only the folder. Null if the environment
   * doesn't exist.
   */
  listFiles(environment: EnvironmentRef): Promise<readonly FileEntry[] | null>;
  /**
   * Returns facts about the WordPress, or null if the environment doesn't exist or has no WordPress. Throws
   * `RuntimeFailure` saying what is missing if the database lacks WordPress tables or options.
   */
  wordpress(environment: EnvironmentRef): Promise<WordPressFacts | null>;
  /**
   * Returns when the next WP-Cron events are due, by environment id. Leaves out environments that don't exist, have no
   * WordPress or can't be read now, and those whose reading takes long; a later call has their result. Does not run PHP, and
   * reads only databases that have changed since the previous call. Rejects when `signal` is aborted.
   */
  nextEvents(environments: readonly EnvironmentRef[], signal: AbortSignal): Promise<ReadonlyMap<string, NextEvents>>;
  /** Reads all WP-Cron events now. Null if the environment doesn't exist or has no WordPress. */
  cronEvents(environment: EnvironmentRef, signal: AbortSignal): Promise<CronEvents | null>;
  /**
   * Returns plugins and themes by environment id. Leaves out environments that don't exist or have no WordPress. Does
   * not run PHP. Rejects when `signal` is aborted.
   */
  packages(
    environments: readonly EnvironmentRef[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, InstalledPackages>>;
  /**
   * Returns the ids of environments whose plugins, themes and database have certainly not changed since `readAt`. Reads none of
   * them.
   */
  unchangedPackages(environments: readonly ReadEnvironment[]): Promise<ReadonlySet<string>>;
  /**
   * Finds the user with this e-mail address, ignoring case; of several, an administrator. Null if the environment
   * doesn't exist or has no WordPress. Throws `RuntimeFailure` saying what is missing if the database lacks
   * WordPress tables or options.
   */
  findUser(environment: EnvironmentRef, email: string): Promise<UserSearch | null>;
  /** Returns null if the environment doesn't exist. */
  diskUse(environment: EnvironmentRef): Promise<DiskUse | null>;
  /** How many bytes environments may still use on their disk together; negative if the reserve is not free. */
  freeDisk(): Promise<number>;
}

export interface Runtime extends EnvironmentRuntime {
  readonly name: string;
  /** Fetches, verifies and unpacks everything the runtime needs. Continues where an earlier call broke off. */
  prepare(progress: Progress): Promise<void>;
  /** Available once `prepare` has succeeded on this machine. */
  capabilities(): Promise<Capabilities>;
}
