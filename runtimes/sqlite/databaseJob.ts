/**
 * Works on databases that PHP has written. Main module of a process that does one job and ends, so that an endless
 * trigger or a huge database affects nothing else.
 */
import { rm } from "node:fs/promises";
import path from "node:path";
import { serveJob } from "../job.ts";
import {
  type AddressChange,
  type Replacements,
  type RowCounts,
  RuntimeFailure,
  type TextChange,
  type WordPressUser,
} from "../runtime.ts";
import { changeAddresses } from "./address/addresses.ts";
import { moveSite } from "./address/moveSite.ts";
import { copyDatabase, copyDatabaseFolder, isBusy, isDamaged, isUnfinished } from "./copyDatabase.ts";
import { dump } from "./dump/dump.ts";
import { lostRows } from "./lostRows.ts";
import { checkTables, replaceTables } from "./replace/replaceTables.ts";
import { replaceTexts } from "./replace/replaceTexts.ts";
import { countRowsIn } from "./rowCounts.ts";
import { withDatabase } from "./withDatabase.ts";
import { readStoredFacts, type StoredFacts } from "./wordpressFacts.ts";
import { findStoredUser } from "./wordpressUsers.ts";

/** Copies the folder `from` into the empty folder `to`, with new addresses in the databases' texts. */
export interface CopyJob {
  readonly kind: "copy";
  readonly from: string;
  readonly to: string;
  readonly addresses: readonly AddressChange[];
}

/** Copies one database that PHP may be writing to the new file `to`. */
export interface CopyOneJob {
  readonly kind: "copyOne";
  readonly from: string;
  readonly to: string;
}

/** Replaces tables of `own`, which must not be in use, by the source's tables with the new addresses. */
export interface TablesJob {
  readonly kind: "tables";
  readonly own: string;
  /** Copy of the source, which is changed. */
  readonly source: string;
  readonly tables: readonly string[];
  readonly addresses: readonly AddressChange[];
}

/** Resolves with `StageChanges.lost`, assuming the source's tables with the new addresses. */
export interface LostJob {
  readonly kind: "lost";
  readonly own: string;
  /** New file for a copy of the own database. */
  readonly ownCopy: string;
  /** Copy of the source, which is changed. Null if no tables replace the own ones: all their rows are lost. */
  readonly source: string | null;
  /** Null: all tables. */
  readonly tables: readonly string[] | null;
  readonly addresses: readonly AddressChange[];
}

/** Resolves with `StoredFacts` (`./wordpressFacts.ts`). */
export interface FactsJob {
  readonly kind: "facts";
  readonly file: string;
  /** New file for a copy of the database; removed at the end. */
  readonly scratch: string;
}

/** Resolves with the user who has this e-mail address, or null. */
export interface UserJob {
  readonly kind: "user";
  readonly file: string;
  /** New file for a copy of the database if it can't be read in place; removed at the end. */
  readonly scratch: string;
  readonly email: string;
}

/** Resolves with `RowCounts` of all databases in the folder. */
export interface CountJob {
  readonly kind: "count";
  readonly folder: string;
  /** The main database; tables of other databases are prefixed with their path. */
  readonly main: string;
  /**
   * Empty folder for copies of the databases. Null: they are not being written and are read in place.
   */
  readonly scratch: string | null;
}

/** Dumps a database that is not being written as SQL into a new file. Resolves with `Dumped` (`dump.ts`). */
export interface DumpJob {
  readonly kind: "dump";
  readonly file: string;
  readonly sql: string;
}

/**
 * Copies the folder `from` into the empty folder `to`, and replaces texts in the database `main`. Resolves with
 * `Replacements`.
 */
export interface ReplaceJob {
  readonly kind: "replace";
  readonly from: string;
  readonly to: string;
  readonly main: string;
  readonly change: TextChange;
}

/**
 * Copies the folder `from` into the empty folder `to`, and changes the address of the WordPress in the database `main`
 * (`./address/moveSite.ts`).
 */
export interface MoveJob {
  readonly kind: "move";
  readonly from: string;
  readonly to: string;
  readonly main: string;
  readonly prefix: string;
  readonly change: AddressChange;
  readonly isEverywhere: boolean;
}

export type DatabaseJob =
  | MoveJob
  | CopyJob
  | CopyOneJob
  | TablesJob
  | LostJob
  | FactsJob
  | UserJob
  | CountJob
  | DumpJob
  | ReplaceJob;

async function copy({ from, to, addresses }: CopyJob): Promise<void> {
  const databases = await copyDatabaseFolder(from, to);
  if (addresses.length === 0) return;
  for (const file of databases) changeAddresses(path.join(to, file), addresses);
}

async function replace({ own, source, tables, addresses }: TablesJob): Promise<void> {
  withDatabase(source, (database) => checkTables(database, "main", tables));
  if (addresses.length > 0) changeAddresses(source, addresses, tables);
  withDatabase(own, (database) => replaceTables(database, source, tables));
}

async function lost({ own, ownCopy, source, tables, addresses }: LostJob): Promise<unknown> {
  if (source !== null && tables !== null) withDatabase(source, (database) => checkTables(database, "main", tables));
  if (source !== null && addresses.length > 0) changeAddresses(source, addresses, tables ?? undefined);
  await copyDatabase(own, ownCopy);
  return lostRows(ownCopy, source, tables);
}

async function facts({ file, scratch }: FactsJob): Promise<StoredFacts> {
  await copyDatabase(file, scratch);
  const found = readStoredFacts(scratch);
  await rm(scratch);
  return found;
}

/**
 * Reads the database in place, because copying a large one takes long. Uses a copy only if a killed worker has left an
 * unfinished write.
 */
async function user({ file, scratch, email }: UserJob): Promise<WordPressUser | null> {
  try {
    return findStoredUser(file, email);
  } catch (error) {
    if (isBusy(error)) {
      const sentence = "The site's database is being written constantly. Try again when the site is less busy.";
      throw new RuntimeFailure(sentence, { cause: error });
    }
    if (!isUnfinished(error)) throw error;
  }
  await copyDatabase(file, scratch);
  const found = findStoredUser(scratch, email);
  await rm(scratch);
  return found;
}

async function count({ folder, main, scratch }: CountJob): Promise<RowCounts> {
  if (scratch !== null) await copyDatabaseFolder(folder, scratch);
  return countRowsIn(scratch ?? folder, main);
}

const noReplacements: Replacements = { places: [], skipped: { occurrences: 0, listed: [] }, addresses: [] };

async function replaceIn({ from, to, main, change }: ReplaceJob): Promise<Replacements> {
  const databases = await copyDatabaseFolder(from, to);
  return databases.includes(main) ? replaceTexts(path.join(to, main), change) : noReplacements;
}

async function move({ from, to, main, ...options }: MoveJob): Promise<void> {
  const databases = await copyDatabaseFolder(from, to);
  moveSite({ ...options, main: path.join(to, main), all: databases.map((file) => path.join(to, file)) });
}

async function work(job: DatabaseJob): Promise<unknown> {
  if (job.kind === "move") return move(job);
  if (job.kind === "replace") return replaceIn(job);
  if (job.kind === "copy") return copy(job);
  if (job.kind === "copyOne") return copyDatabase(job.from, job.to);
  if (job.kind === "count") return count(job);
  if (job.kind === "facts") return facts(job);
  if (job.kind === "user") return user(job);
  if (job.kind === "dump") return dump(job.file, job.sql);
  return job.kind === "tables" ? replace(job) : lost(job);
}

if (import.meta.main) {
  serveJob(async (job: DatabaseJob) => {
    try {
      return await work(job);
    } catch (error) {
      if (!isDamaged(error)) throw error;
      const what = job.kind === "count" || job.kind === "user" ? "read" : "copied";
      throw new RuntimeFailure(`A database is damaged, so it can't be ${what}.`, { cause: error });
    }
  });
}
