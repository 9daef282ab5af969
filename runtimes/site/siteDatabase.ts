/**
 * The databases of sites, whatever engine they use. Each release and each snapshot has a folder `database`, which contains
 * the database or tells where it is.
 *
 * PHP writes databases, so they are untrusted. An implementation works on them in processes of their own (`runTenantJob`), and throws
 * `RuntimeFailure` with a sentence for the customer if one is damaged. Databases of new sites are an exception, because only
 * WordPress's own code has run there: `createPlain`, `fillTemplate` and `setPassword` work in this process.
 */
import type {
  AddressChange,
  CronEvents,
  EnvironmentRef,
  InstalledPackages,
  NextEvents,
  Replacements,
  RowCounts,
  SiteExport,
  SnapshotFolder,
  StageChanges,
  TextChange,
  WordPressFacts,
  WordPressInstall,
  WordPressUser,
} from "../runtime.ts";
import type { Template } from "./template.ts";

/** The database of a release or a snapshot. */
export interface DatabaseOf {
  /** Whose it is. */
  readonly of: EnvironmentRef | SnapshotFolder;
  /** The folder `database` of the release or snapshot. */
  readonly folder: string;
  /** Whether it is WordPress's: then it has a known place, and tables that WordPress knows. */
  readonly hasWordPress: boolean;
}

/** The database of an environment, and a new folder for temporary copies, which is removed at the end. */
interface WithScratch {
  readonly own: DatabaseOf;
  readonly scratch: string;
}

export interface ReplacedTables extends WithScratch {
  readonly source: DatabaseOf;
  readonly tables: readonly string[];
  readonly addresses: readonly AddressChange[];
}

export interface ComparedRows extends WithScratch {
  /** The source's tables with the new addresses replace the own ones; null: none do, and all rows are lost. */
  readonly source: DatabaseOf | null;
  /** Null: all tables. */
  readonly tables: readonly string[] | null;
  readonly addresses: readonly AddressChange[];
}

export interface MovedSite {
  /** Prefix of WordPress's tables. */
  readonly prefix: string;
  readonly change: AddressChange;
  readonly isEverywhere: boolean;
}

/** Finds when WP-Cron events are due. */
export interface EventReader {
  /** Implements `Runtime.nextEvents`. */
  next(environments: readonly EnvironmentRef[], signal: AbortSignal): Promise<ReadonlyMap<string, NextEvents>>;
  /** Implements `Runtime.cronEvents`. */
  all(environment: EnvironmentRef, signal: AbortSignal): Promise<CronEvents | null>;
}

/** Implements `Runtime.packages`. */
export type PackageReader = (
  wanted: readonly EnvironmentRef[],
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, InstalledPackages>>;

export interface SiteDatabase {
  /** What people call this kind of database. */
  readonly kind: string;
  /** The constants that tell WordPress its database, for `wp-config.php`. */
  readonly constants: Readonly<Record<string, string>>;
  /** A sentence of HTML that tells the owner of an environment without WordPress where the database is. */
  readonly plainNote: string;
  /** Creates an empty database for PHP without WordPress in the new folder. */
  createPlain(folder: string): Promise<void>;
  /** Fills in an environment's values in a copy of the template's database. `passwordHash` is stored as it is. */
  fillTemplate(folder: string, template: Template, wordpress: WordPressInstall, passwordHash: string): void;
  /**
   * Stores the hash for the first administrator of a WordPress that has no password yet (`noPassword`). PHP may have the
   * database open.
   */
  setPassword(database: DatabaseOf, passwordHash: string): Promise<void>;
  /** Copies the database to the new folder `to`, with new addresses in its texts. */
  copy(from: DatabaseOf, to: string, addresses: readonly AddressChange[]): Promise<void>;
  /** Copies the database to the new folder `to`, in which WordPress has another address. */
  move(from: DatabaseOf, to: string, move: MovedSite): Promise<void>;
  /** Replaces tables of `own`, which is not in use, by the source's with the new addresses. */
  replaceTables(replaced: ReplacedTables): Promise<void>;
  /** Counts the rows that would be lost. */
  findLostRows(compared: ComparedRows): Promise<StageChanges["lost"]>;
  /** Copies the database to the new folder `to`, with replaced texts. */
  replaceTexts(from: DatabaseOf, to: string, change: TextChange, signal?: AbortSignal): Promise<Replacements>;
  /** Reads facts about WordPress. The new folder `scratch` is for temporary copies. */
  readFacts(database: DatabaseOf, scratch: string): Promise<Omit<WordPressFacts, "multisite">>;
  /** Finds the user with this e-mail address, or null. The new folder `scratch` is for temporary copies. */
  findUser(database: DatabaseOf, email: string, scratch: string): Promise<WordPressUser | null>;
  /** Counts the rows of all tables. `scratch`: a new folder for copies; null if the database is not being written. */
  countRows(database: DatabaseOf, scratch: string | null, signal: AbortSignal): Promise<RowCounts>;
  /** Writes the database as SQL for MySQL and MariaDB into the new file, which is missing if there are no tables. */
  dump(database: DatabaseOf, sql: string): Promise<Pick<SiteExport, "tables" | "notes">>;
  /** Removes the files with which WordPress uses this kind of database from a web root. */
  removeDropIn(webRoot: string): Promise<void>;
  /** Whether the database has certainly not been written since then, in milliseconds. */
  isUnchangedSince(database: Omit<DatabaseOf, "of">, since: number): boolean;
  /** Creates a reader of the WP-Cron events of the environments in this folder. Its results are stored in `file`, if given. */
  readEvents(environments: string, options: { readonly file?: string }): EventReader;
  /** Creates a reader of the plugins and themes of the environments in this folder. */
  readPackages(environments: string): PackageReader;
}
