/** Starts work on databases, each in a separate process (`databaseJob.ts`). */
import { mkdir, rename } from "node:fs/promises";
import path from "node:path";
import type { Confinement, JobFiles } from "../../../confinement.ts";
import { giveTo } from "../../../folderOwner.ts";
import { removeTree } from "../../../folders.ts";
import type { Replacements, RowCounts, StageChanges, WordPressUser } from "../../../runtime.ts";
import type { Dumped } from "../../mysql/dump.ts";
import { runTenantJob } from "../../templates/job.ts";
import type { StoredFacts } from "../wordpressFacts.ts";
import type {
  CopyJob,
  CountJob,
  DatabaseJob,
  DumpJob,
  FactsJob,
  LostJob,
  MoveJob,
  ReplaceJob,
  TablesJob,
  UserJob,
} from "./databaseJob.ts";

/** Enough for a database of some gigabytes. Also ends jobs that would never end. */
const defaultSeconds = 900;
/** For jobs that examine or rewrite all values. */
const dumpSeconds = 3_600;

/** Whose database it is. */
type DatabaseSource = JobFiles["source"];

/** Whose database a job reads. */
interface FromSource {
  readonly of: DatabaseSource;
}

/** A database, and whose it is. */
interface OwnedDatabase extends FromSource {
  readonly file: string;
}

interface RunOptions {
  readonly deadlineSeconds?: number;
  readonly signal?: AbortSignal;
}

function run(
  files: JobFiles,
  jobAt: (at: Confinement["at"]) => DatabaseJob,
  { deadlineSeconds = defaultSeconds, signal }: RunOptions = {},
): Promise<unknown> {
  return runTenantJob(new URL("./databaseJob.ts", import.meta.url), jobAt, {
    files,
    deadlineSeconds,
    ...(signal && { signal }),
  });
}

/** `to` is a new folder. */
export async function copyDatabases({ of, from, to, ...job }: Omit<CopyJob, "kind"> & FromSource): Promise<void> {
  await mkdir(to);
  const files = { source: of, reads: [from], writes: [to] };
  await run(files, (at) => ({ kind: "copy", from: at(from), to: at(to), ...job }));
}

/** `to` is a new folder. */
export async function moveDatabases({ of, from, to, ...job }: Omit<MoveJob, "kind"> & FromSource): Promise<void> {
  await mkdir(to);
  const files = { source: of, reads: [from], writes: [to] };
  await run(files, (at) => ({ kind: "move", from: at(from), to: at(to), ...job }), { deadlineSeconds: dumpSeconds });
}

const sourceCopy = "source.sqlite";
const ownCopy = "own.sqlite";

/** Copies a database into the folder `scratch`, as the user it belongs to. Returns the path of the copy. */
async function copySource({ of, file }: OwnedDatabase, scratch: string): Promise<string> {
  const to = path.join(scratch, sourceCopy);
  const files = { source: of, reads: [path.dirname(file)], writes: [scratch] };
  await run(files, (at) => ({ kind: "copyOne", from: at(file), to: at(to) }));
  // The next process may be another environment's, and takes folders of nobody else.
  if (process.getuid?.() === 0) await giveTo(0, scratch);
  return to;
}

/** Two databases, which may belong to different users. */
interface TwoDatabases {
  readonly own: OwnedDatabase;
  /** New folder for copies; removed at the end. */
  readonly scratch: string;
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

type ReplaceTables = Omit<TablesJob, "kind" | "own" | "source"> & TwoDatabases & { readonly source: OwnedDatabase };

export async function replaceTablesOf({ own, source, scratch, ...job }: ReplaceTables): Promise<void> {
  await withScratch(scratch, async () => {
    const copy = await copySource(source, scratch);
    const files = { source: own.of, reads: [path.dirname(own.file)], writes: [scratch] };
    await run(files, (at) => ({ kind: "tables", own: at(own.file), source: at(copy), ...job }));
  });
}

function isLostRows(value: unknown): value is StageChanges["lost"] {
  return Array.isArray(value) && value.every((each) => typeof each === "object" && each !== null && "table" in each);
}

type FindLost = Omit<LostJob, "kind" | "own" | "ownCopy" | "source"> &
  TwoDatabases & { readonly source: OwnedDatabase | null };

export async function findLostRows({ own, source, scratch, ...job }: FindLost): Promise<StageChanges["lost"]> {
  const found = await withScratch(scratch, async () => {
    const copy = source === null ? null : await copySource(source, scratch);
    const files = { source: own.of, reads: [path.dirname(own.file)], writes: [scratch] };
    return run(files, (at) => ({
      kind: "lost",
      own: at(own.file),
      ownCopy: at(path.join(scratch, ownCopy)),
      source: copy === null ? null : at(copy),
      ...job,
    }));
  });
  if (!isLostRows(found)) throw new Error("The comparison of two databases returned an unknown result.");
  return found;
}

function isFacts(value: unknown): value is StoredFacts {
  return typeof value === "object" && value !== null && "title" in value && "adminUser" in value;
}

/** The folder of `scratch` is given to the user who reads the database. */
export async function storedFactsOf({ of, file, scratch }: Omit<FactsJob, "kind"> & FromSource): Promise<StoredFacts> {
  const files = { source: of, reads: [path.dirname(file)], writes: [path.dirname(scratch)] };
  const found = await run(files, (at) => ({ kind: "facts", file: at(file), scratch: at(scratch) }));
  if (!isFacts(found)) throw new Error("Reading facts about a WordPress returned an unknown result.");
  return found;
}

/** Short, because the caller waits. */
const userSeconds = 30;

function isUser(value: unknown): value is WordPressUser | null {
  return value === null || (typeof value === "object" && "login" in value && "isAdministrator" in value);
}

/** The folder of `scratch` is given to the user who reads the database. */
export async function storedUserOf({
  of,
  file,
  scratch,
  email,
}: Omit<UserJob, "kind"> & FromSource): Promise<WordPressUser | null> {
  const files = { source: of, reads: [path.dirname(file)], writes: [path.dirname(scratch)] };
  const jobAt = (at: Confinement["at"]) => ({ kind: "user" as const, file: at(file), scratch: at(scratch), email });
  const found = await run(files, jobAt, { deadlineSeconds: userSeconds });
  if (!isUser(found)) throw new Error("Searching for a user returned an unknown result.");
  return found;
}

function isRowCounts(value: unknown): value is RowCounts {
  return typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "number");
}

/** `scratch` is a new folder, which is removed at the end. */
export async function countRowsOf(
  { of, folder, main, scratch }: Omit<CountJob, "kind"> & FromSource,
  signal: AbortSignal,
): Promise<RowCounts> {
  const count = () => {
    const files = { source: of, reads: [folder], writes: scratch === null ? [] : [scratch] };
    const copies = (at: Confinement["at"]) => (scratch === null ? null : at(scratch));
    return run(files, (at) => ({ kind: "count", folder: at(folder), main, scratch: copies(at) }), { signal });
  };
  const found = scratch === null ? await count() : await withScratch(scratch, count);
  if (!isRowCounts(found)) throw new Error("Counting the rows of a database returned an unknown result.");
  return found;
}

function isReplacements(value: unknown): value is Replacements {
  return typeof value === "object" && value !== null && "places" in value && "skipped" in value && "addresses" in value;
}

/** Checks a value that is stored for an earlier replacement. */
export function asReplacements(value: unknown): Replacements {
  if (!isReplacements(value)) throw new Error("Replacing texts in a database returned an unknown result.");
  return value;
}

/** `to` is a new folder. */
export async function replaceTextsOf(
  { of, from, to, ...job }: Omit<ReplaceJob, "kind"> & FromSource,
  signal?: AbortSignal,
): Promise<Replacements> {
  await mkdir(to);
  const options = { deadlineSeconds: dumpSeconds, ...(signal && { signal }) };
  const files = { source: of, reads: [from], writes: [to] };
  return asReplacements(await run(files, (at) => ({ kind: "replace", from: at(from), to: at(to), ...job }), options));
}

function isDumped(value: unknown): value is Dumped {
  return typeof value === "object" && value !== null && "tables" in value && "notes" in value;
}

export async function dumpDatabase({ of, file, sql }: Omit<DumpJob, "kind"> & FromSource): Promise<Dumped> {
  const scratch = `${sql}.new`;
  return withScratch(scratch, async () => {
    const made = path.join(scratch, path.basename(sql));
    const files = { source: of, reads: [path.dirname(file)], writes: [scratch] };
    const jobAt = (at: Confinement["at"]) => ({ kind: "dump" as const, file: at(file), sql: at(made) });
    const dumped = await run(files, jobAt, { deadlineSeconds: dumpSeconds });
    if (!isDumped(dumped)) throw new Error("Dumping a database returned an unknown result.");
    await rename(made, sql);
    return dumped;
  });
}
