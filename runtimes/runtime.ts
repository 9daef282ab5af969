/**
 * Where WordPress runs: what every runtime offers, and nothing about how it does so.
 *
 * A runtime has two faces, because they live in different processes. `Runtime` makes and removes
 * environments; the control process calls it from the steps of operations, so every method is
 * idempotent and takes its identity from its input. The other face, `Serving`, is in `serving.ts`.
 *
 * `conformance.ts` says in tests what this page says in words. Every runtime passes it.
 */
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

/** A user of a WordPress. An administrator is one of the environment: in a network, of its main site or of all of it. */
export interface WordPressUser {
  readonly id: number;
  readonly login: string;
  readonly isAdministrator: boolean;
}

export interface UserSearch {
  /** Null if no user has that address. */
  readonly user: WordPressUser | null;
}

/** What was put together to run elsewhere. */
export interface SiteExport {
  /** Null if there is no WordPress. */
  readonly wordpressVersion: string | null;
  readonly multisite: MultisiteKind | null;
  /** How many are in `database.sql`; with none there is no such file. */
  readonly tables: number;
  /** Sentences about what is not quite as it was. */
  readonly notes: readonly string[];
}

/** Something that a WordPress does by itself when it is time (WP-Cron). */
export interface PlannedEvent {
  readonly hook: string;
  /** Milliseconds since 1970. */
  readonly dueAt: number;
  /** The name of its recurrence, `hourly`; null: once. */
  readonly recurrence: string | null;
  /** Null if it is done once, or WordPress did not say. */
  readonly intervalSeconds: number | null;
  /** What the hook is given, as far as JSON has it. */
  readonly args: readonly unknown[];
}

/** Where one site of a network is: `Host` of a request to it, and the path that its own paths begin with (`/two/`). */
export interface NetworkPlace {
  readonly host: string;
  readonly path: string;
}

/** What one site of a WordPress plans; `place` is null if there is no network, and so only one. */
export interface PlannedEvents {
  readonly place: NetworkPlace | null;
  readonly events: readonly PlannedEvent[];
}

/** When the next event of one site is due. Milliseconds since 1970. */
export interface NextEvent {
  readonly place: NetworkPlace | null;
  readonly dueAt: number;
}

/** `problem` says what of the plans can't be read, and is left out. */
export interface NextEvents {
  /** Of the sites that plan something, each one's next. */
  readonly events: readonly NextEvent[];
  readonly problem: string | null;
}

export interface EventPlans {
  readonly sites: readonly PlannedEvents[];
  /** What can't be read, and is left out; null: nothing. */
  readonly problem: string | null;
}

export type PackageKind = "plugin" | "theme";

/** A plugin or a theme that lies in an environment's web root, as its own header says. Texts may be empty. */
export interface InstalledPackage {
  readonly kind: PackageKind;
  /** Its folder; of a plugin that is a single file, that file without `.php`. */
  readonly name: string;
  /** How WordPress names it: `akismet/akismet.php`; of a theme, its folder. */
  readonly file: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  /** Where it says that its updates are (`Update URI`); null: nowhere, and so at WordPress.org if they are there. */
  readonly updateUri: string | null;
  /** In a network: for one of its sites. A theme is also in use where the one in use is a child of it. */
  readonly isActive: boolean;
  /** Whether WordPress is set to update it by itself. */
  readonly isAutoUpdated: boolean;
}

/** A version of WordPress, as it was unpacked into a folder: `wp-admin`, `wp-includes` and the files beside them. */
export interface NewWordPress {
  readonly version: string;
  readonly folder: string;
}

/** A plugin or a theme that is to be put into a release. */
export interface NewPackage {
  readonly kind: PackageKind;
  /** Of the folder that it gets: no path. */
  readonly name: string;
  /** Where what comes into that folder is; it stays there. */
  readonly folder: string;
}

/** By kind and name. `problem` says what can't be read; what is in use is not known then, or not all of it. */
export interface InstalledPackages {
  readonly packages: readonly InstalledPackage[];
  readonly problem: string | null;
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
  /** Null if it has no WordPress. */
  readonly wordpressVersion: string | null;
}

/** What replaces what in the texts of a database: literally, capitals and small letters told apart. `search` is not empty. */
export interface TextChange {
  readonly search: string;
  readonly replace: string;
}

/** What was replaced, or would be. */
export interface Replacements {
  /** By table and column, where there is something; `rows` have one of the `occurrences` or more. */
  readonly places: readonly {
    readonly table: string;
    readonly column: string;
    readonly rows: number;
    readonly occurrences: number;
  }[];
  /** What was found and stays, because replacing it would break what it is a part of. `listed` holds the first hundred. */
  readonly skipped: {
    readonly occurrences: number;
    readonly listed: readonly {
      readonly table: string;
      readonly column: string;
      /** What tells the row from others: its number, or its key. */
      readonly row: string;
      readonly occurrences: number;
    }[];
  };
  /** The site's own addresses that become others, each with where it stands. */
  readonly addresses: readonly { readonly place: string; readonly from: string; readonly to: string }[];
}

export interface StageReplacementSpec {
  readonly environment: EnvironmentRef;
  /** As in `StageSpec`. */
  readonly token: string;
  readonly change: TextChange;
}

/** Another address for a site that stays where it is. */
export interface StageAddressSpec {
  readonly environment: EnvironmentRef;
  /** As in `StageSpec`. */
  readonly token: string;
  /** `from`: that by which it was known so far. Whatever else WordPress takes for its own address becomes `to`, too. */
  readonly change: AddressChange;
  /** Whether all texts of the database are changed, or only those by which WordPress knows where it is. */
  readonly isEverywhere: boolean;
}

/** A command of WP-CLI. */
export interface WpCliCommand {
  readonly phpVersion: string;
  /** Without `wp` itself. */
  readonly argv: readonly string[];
  /** After so long it is killed, with whatever it does. */
  readonly seconds: number;
  /** For PHP's own data. Absent: as environments usually have it. */
  readonly memoryMb?: number;
  /** By how much the environment may grow; below zero: it is too large already. Null or absent: by anything. */
  readonly diskLeftBytes?: number | null;
  /** Whether it may connect to mail servers. Absent: it may not. */
  readonly maySendMail?: boolean;
}

export interface WpCliText {
  /** All of it, or its beginning and its end with a note between them. */
  readonly text: string;
  /** Of the whole. */
  readonly bytes: number;
  readonly isTruncated: boolean;
}

/** How a command came to its end: by itself, beyond one of its limits, or because PHP crashed. */
export type WpCliEnd = "itself" | "time" | "output" | "memory" | "crash";

export interface WpCliOutcome {
  readonly stdout: WpCliText;
  readonly stderr: WpCliText;
  /** Null if the command did not end by itself. */
  readonly exitCode: number | null;
  readonly end: WpCliEnd;
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
   * Returns the administrator of a WordPress that was provisioned without a password one, made of this digest. It may be
   * served by then. Where he has one, nothing is changed. Rejects with `RuntimeFailure` if the environment is absent.
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
  /** Null if the environment is absent or retired, or its release is lost. */
  layout(environment: EnvironmentRef): Promise<EnvironmentLayout | null>;

  /**
   * Builds the next release beside the one that is served, whole or not at all; again for the same token it
   * changes nothing. What comes from neither source nor copy is shared with the current release: what is written
   * to it meanwhile is not lost. `RuntimeFailure` names a file or table that the source doesn't have.
   */
  stage(spec: StageSpec): Promise<void>;
  /** Where the staged release is, as it would be served; null if nothing is staged under this token. */
  staged(environment: EnvironmentRef, token: string): Promise<EnvironmentLayout | null>;
  /**
   * Makes a copy of the release that is staged under this token, also of what that one shares with the current one: trying
   * it out changes nothing of either. Anew at each call. Gone after `unstage` and `prune`.
   */
  rehearse(environment: EnvironmentRef, token: string): Promise<EnvironmentLayout>;
  /**
   * Puts packages into the release that is staged under this token, which has files of its own, each in the place of what has
   * its name there; null: into the current one, of an environment that nobody is served from yet. Again it comes to the same.
   * `RuntimeFailure` where there is no such release, or it has no folder for them.
   */
  installPackages(environment: EnvironmentRef, token: string | null, packages: readonly NewPackage[]): Promise<void>;
  /**
   * Returns the release that is staged under this token, which has files of its own, that version of WordPress. What the site's owner
   * has beside it stays (`wordpressFiles.ts`). What it changes in the database it does when it is asked for that. Again it comes to the same. `RuntimeFailure` where there is no such
   * release, or it has no WordPress.
   */
  installWordPress(environment: EnvironmentRef, token: string, wordpress: NewWordPress): Promise<void>;
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
  /**
   * Runs a command of WP-CLI with the environment's own files, database and rights, and nothing on its standard input. `begin`
   * is called once, just before: what rejects before that, or there, has done nothing. Not idempotent. Rejects when `signal`
   * is aborted; whenever this settles, the command runs no more. When this process ends, the command does.
   */
  runWpCli(
    environment: EnvironmentRef,
    command: WpCliCommand,
    begin: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<WpCliOutcome>;
  /**
   * What replacing would come to now, without changing anything. `RuntimeFailure` where the environment is absent. Rejects
   * when `signal` is aborted.
   */
  countReplacements(environment: EnvironmentRef, change: TextChange, signal: AbortSignal): Promise<Replacements>;
  /**
   * Builds the next release with a copy of the environment's own database in which the texts are replaced; the files are
   * shared with the current one. Otherwise as `stage`; again for the same token it gives the same.
   */
  stageReplacement(spec: StageReplacementSpec): Promise<Replacements>;
  /**
   * Builds the next release with a copy of the environment's own database in which WordPress is at another address; the files
   * are shared with the current one, unless the configuration names the address. Otherwise as `stage`.
   */
  stageAddress(spec: StageAddressSpec): Promise<void>;
  /** Every file and folder of the web root, by name; shared code as its folder only. Null if the environment is absent. */
  listFiles(environment: EnvironmentRef): Promise<readonly FileEntry[] | null>;
  /**
   * Null if the environment is absent or has no WordPress. `RuntimeFailure` says what is missing where the database is
   * not as WordPress makes one.
   */
  wordpress(environment: EnvironmentRef): Promise<WordPressFacts | null>;
  /**
   * By the environment's id, when the events are due that WordPress plans; without those that are absent or have no
   * WordPress, and without those that can't be read just now. PHP does not run for it, and what nobody has written since the
   * call before is not read again. Rejects when `signal` is aborted.
   */
  nextEvents(environments: readonly EnvironmentRef[], signal: AbortSignal): Promise<ReadonlyMap<string, NextEvents>>;
  /** All that WordPress plans, read now. Null if the environment is absent or has no WordPress. */
  plannedEvents(environment: EnvironmentRef, signal: AbortSignal): Promise<EventPlans | null>;
  /**
   * By the environment's id, which plugins and themes it has; without those that are absent or have no WordPress. PHP does
   * not run for it. Rejects when `signal` is aborted.
   */
  packages(
    environments: readonly EnvironmentRef[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, InstalledPackages>>;
  /**
   * Who has this e-mail address, in whatever case; of several, an administrator. Null if the environment is absent or has
   * no WordPress. `RuntimeFailure` says what is missing where the database is not as WordPress makes one.
   */
  findUser(environment: EnvironmentRef, email: string): Promise<UserSearch | null>;
  /** Null if the environment is absent. */
  diskUse(environment: EnvironmentRef): Promise<DiskUse | null>;
}
