/** Databases of sites in SQLite. Work on a database runs in a separate process (`databaseJob.ts`). */
import { mkdir, rename } from "node:fs/promises";
import path from "node:path";
import type { Confinement, JobFiles } from "../confinement.ts";
import { giveTo } from "../folderOwner.ts";
import { exists, removeTree } from "../folders.ts";
import { runTenantJob } from "../job.ts";
import { isUnchanged } from "../packageChanges.ts";
import { databaseFolder } from "../phpFolders.ts";
import {
  type AddressChange,
  type Replacements,
  type RowCounts,
  RuntimeFailure,
  type StageChanges,
  type TextChange,
  type WordPressUser,
} from "../runtime.ts";
import { asReplacements } from "../site/replacement.ts";
import type { ComparedRows, DatabaseOf, MovedSite, ReplacedTables, SiteDatabase } from "../site/siteDatabase.ts";
import { createPlainDatabase } from "./createPlainDatabase.ts";
import { databaseFile, mainDatabase, plainDatabaseFile } from "./databaseFiles.ts";
import type { DatabaseJob } from "./databaseJob.ts";
import { removeDropIn } from "./dropIn.ts";
import type { Dumped } from "./dump/dump.ts";
import { createEventReader } from "./events/nextEvents.ts";
import { fillTemplate } from "./fillTemplate.ts";
import { createPackageReader } from "./packages/packages.ts";
import { setPassword } from "./setPassword.ts";
import type { StoredFacts } from "./wordpressFacts.ts";

/** Enough for a database of some gigabytes. Also ends jobs that would never end. */
const defaultSeconds = 900;
/** For jobs that examine or rewrite all values. */
const dumpSeconds = 3_600;
/** Short, because the caller waits. */
const userSeconds = 30;

interface RunOptions {
  readonly deadlineSeconds?: number;
  readonly signal?: AbortSignal | undefined;
}

function run(
  files: JobFiles,
  jobAt: (at: Confinement["at"]) => DatabaseJob,
  { deadlineSeconds = defaultSeconds, signal }: RunOptions = {},
): Promise<unknown> {
  const options = { files, deadlineSeconds, ...(signal && { signal }) };
  return runTenantJob(new URL("./databaseJob.ts", import.meta.url), jobAt, options);
}

const fileOf = (database: Omit<DatabaseOf, "of">): string => path.join(database.folder, mainDatabase(database));

async function copy({ of, folder }: DatabaseOf, to: string, addresses: readonly AddressChange[]): Promise<void> {
  await mkdir(to);
  const files = { source: of, reads: [folder], writes: [to] };
  await run(files, (at) => ({ kind: "copy", from: at(folder), to: at(to), addresses }));
}

async function move(database: DatabaseOf, to: string, moved: MovedSite): Promise<void> {
  const { of, folder } = database;
  await mkdir(to);
  const files = { source: of, reads: [folder], writes: [to] };
  const jobAt = (at: Confinement["at"]) =>
    ({ kind: "move", from: at(folder), to: at(to), main: mainDatabase(database), ...moved }) as const;
  await run(files, jobAt, { deadlineSeconds: dumpSeconds });
}

const sourceCopy = "source.sqlite";
const ownCopy = "own.sqlite";

/** Copies a database into the folder `scratch`, as the user it belongs to. Returns the path of the copy. */
async function copySource(database: DatabaseOf, scratch: string): Promise<string> {
  const to = path.join(scratch, sourceCopy);
  const files = { source: database.of, reads: [database.folder], writes: [scratch] };
  await run(files, (at) => ({ kind: "copyOne", from: at(fileOf(database)), to: at(to) }));
  // The next process may be another environment's, and takes folders of nobody else.
  if (process.getuid?.() === 0) await giveTo(0, scratch);
  return to;
}

/** Calls `work` with the new folder, and removes it at the end. */
async function withScratch<T>(scratch: string, work: () => Promise<T>): Promise<T> {
  await mkdir(scratch, { mode: 0o700 });
  try {
    return await work();
  } finally {
    await removeTree(scratch);
  }
}

async function replaceTables({ own, source, scratch, tables, addresses }: ReplacedTables): Promise<void> {
  await withScratch(scratch, async () => {
    const copied = await copySource(source, scratch);
    const files = { source: own.of, reads: [own.folder], writes: [scratch] };
    await run(files, (at) => ({ kind: "tables", own: at(fileOf(own)), source: at(copied), tables, addresses }));
  });
}

function isLostRows(value: unknown): value is StageChanges["lost"] {
  return Array.isArray(value) && value.every((each) => typeof each === "object" && each !== null && "table" in each);
}

async function findLostRows({ own, source, scratch, tables, addresses }: ComparedRows): Promise<StageChanges["lost"]> {
  const found = await withScratch(scratch, async () => {
    const copied = source === null ? null : await copySource(source, scratch);
    const files = { source: own.of, reads: [own.folder], writes: [scratch] };
    return run(files, (at) => ({
      kind: "lost",
      own: at(fileOf(own)),
      ownCopy: at(path.join(scratch, ownCopy)),
      source: copied === null ? null : at(copied),
      tables,
      addresses,
    }));
  });
  if (!isLostRows(found)) throw new Error("The comparison of two databases returned an unknown result.");
  return found;
}

function isFacts(value: unknown): value is StoredFacts {
  return typeof value === "object" && value !== null && "title" in value && "adminUser" in value;
}

/** Name of a temporary copy. */
const temporaryCopy = "copy.sqlite";

async function readFacts(database: DatabaseOf, scratch: string): Promise<StoredFacts> {
  const files = { source: database.of, reads: [database.folder], writes: [scratch] };
  const jobAt = (at: Confinement["at"]) =>
    ({ kind: "facts", file: at(fileOf(database)), scratch: at(path.join(scratch, temporaryCopy)) }) as const;
  const found = await withScratch(scratch, () => run(files, jobAt));
  if (!isFacts(found)) throw new Error("Reading facts about a WordPress returned an unknown result.");
  return found;
}

function isUser(value: unknown): value is WordPressUser | null {
  return value === null || (typeof value === "object" && "login" in value && "isAdministrator" in value);
}

async function findUser(database: DatabaseOf, email: string, scratch: string): Promise<WordPressUser | null> {
  const files = { source: database.of, reads: [database.folder], writes: [scratch] };
  const jobAt = (at: Confinement["at"]) =>
    ({ kind: "user", file: at(fileOf(database)), scratch: at(path.join(scratch, temporaryCopy)), email }) as const;
  const found = await withScratch(scratch, () => run(files, jobAt, { deadlineSeconds: userSeconds }));
  if (!isUser(found)) throw new Error("Searching for a user returned an unknown result.");
  return found;
}

function isRowCounts(value: unknown): value is RowCounts {
  return typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "number");
}

async function countRows(database: DatabaseOf, scratch: string | null, signal: AbortSignal): Promise<RowCounts> {
  const { of, folder } = database;
  const main = mainDatabase(database);
  const count = () => {
    const files = { source: of, reads: [folder], writes: scratch === null ? [] : [scratch] };
    const copies = (at: Confinement["at"]) => (scratch === null ? null : at(scratch));
    return run(files, (at) => ({ kind: "count", folder: at(folder), main, scratch: copies(at) }), { signal });
  };
  const found = scratch === null ? await count() : await withScratch(scratch, count);
  if (!isRowCounts(found)) throw new Error("Counting the rows of a database returned an unknown result.");
  return found;
}

async function replaceTexts(
  database: DatabaseOf,
  to: string,
  change: TextChange,
  signal?: AbortSignal,
): Promise<Replacements> {
  const { of, folder } = database;
  await mkdir(to);
  const files = { source: of, reads: [folder], writes: [to] };
  const jobAt = (at: Confinement["at"]) =>
    ({ kind: "replace", from: at(folder), to: at(to), main: mainDatabase(database), change }) as const;
  const found = await run(files, jobAt, { deadlineSeconds: dumpSeconds, signal });
  return asReplacements(found);
}

function isDumped(value: unknown): value is Dumped {
  return typeof value === "object" && value !== null && "tables" in value && "notes" in value;
}

/** Without WordPress there may be no database; without tables no file is written. */
async function dump(database: DatabaseOf, sql: string): Promise<Dumped> {
  const file = fileOf(database);
  if (!(await exists(file))) {
    if (!database.hasWordPress) return { tables: 0, notes: [] };
    throw new RuntimeFailure("The site has no database, so it can't be exported.");
  }
  const scratch = `${sql}.new`;
  return withScratch(scratch, async () => {
    const made = path.join(scratch, path.basename(sql));
    const files = { source: database.of, reads: [database.folder], writes: [scratch] };
    const jobAt = (at: Confinement["at"]) => ({ kind: "dump", file: at(file), sql: at(made) }) as const;
    const dumped = await run(files, jobAt, { deadlineSeconds: dumpSeconds });
    if (!isDumped(dumped)) throw new Error("Dumping a database returned an unknown result.");
    if (dumped.tables > 0) await rename(made, sql);
    return dumped;
  });
}

export const sqliteDatabase: SiteDatabase = {
  kind: "SQLite",
  constants: {
    DB_NAME: "wordpress",
    DB_USER: "",
    DB_PASSWORD: "",
    DB_HOST: "localhost",
    DB_CHARSET: "utf8mb4",
    DB_COLLATE: "",
    DB_ENGINE: "sqlite",
    DB_DIR: `${databaseFolder}/`,
    DB_FILE: databaseFile,
    // With the driver's default, write-ahead logging, PHP under WebAssembly silently loses committed rows as soon as a
    // second process opens the database.
    SQLITE_JOURNAL_MODE: "DELETE",
  },
  plainNote: `An empty SQLite database is at <code>${databaseFolder}/${plainDatabaseFile}</code>.`,
  createPlain: createPlainDatabase,
  fillTemplate: (folder, { places }, wordpress, passwordHash) =>
    fillTemplate(path.join(folder, databaseFile), places, wordpress, passwordHash),
  setPassword: (database, passwordHash) => setPassword(fileOf(database), passwordHash),
  copy,
  move,
  replaceTables,
  findLostRows,
  replaceTexts,
  readFacts,
  findUser,
  countRows,
  dump,
  removeDropIn,
  isUnchangedSince: (database, since) => isUnchanged(fileOf(database), since),
  readEvents: createEventReader,
  readPackages: createPackageReader,
};
