/** Starts work on databases, each in a separate process (`databaseJob.ts`). */
import type { Replacements, RowCounts, StageChanges, WordPressUser } from "../../../runtime.ts";
import type { Dumped } from "../../mysql/dump.ts";
import { runJob } from "../../templates/job.ts";
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

interface RunOptions {
  readonly deadlineSeconds?: number;
  readonly signal?: AbortSignal;
}

function run(job: DatabaseJob, { deadlineSeconds = defaultSeconds, signal }: RunOptions = {}): Promise<unknown> {
  return runJob("../site/database/databaseJob.ts", job, { deadlineSeconds, ...(signal && { signal }) });
}

export async function copyDatabases(job: Omit<CopyJob, "kind">): Promise<void> {
  await run({ kind: "copy", ...job });
}

export async function moveDatabases(job: Omit<MoveJob, "kind">): Promise<void> {
  await run({ kind: "move", ...job }, { deadlineSeconds: dumpSeconds });
}

export async function replaceTablesOf(job: Omit<TablesJob, "kind">): Promise<void> {
  await run({ kind: "tables", ...job });
}

function isLostRows(value: unknown): value is StageChanges["lost"] {
  return Array.isArray(value) && value.every((each) => typeof each === "object" && each !== null && "table" in each);
}

export async function findLostRows(job: Omit<LostJob, "kind">): Promise<StageChanges["lost"]> {
  const found = await run({ kind: "lost", ...job });
  if (!isLostRows(found)) throw new Error("The comparison of two databases returned an unknown result.");
  return found;
}

function isFacts(value: unknown): value is StoredFacts {
  return typeof value === "object" && value !== null && "title" in value && "adminUser" in value;
}

export async function storedFactsOf(job: Omit<FactsJob, "kind">): Promise<StoredFacts> {
  const found = await run({ kind: "facts", ...job });
  if (!isFacts(found)) throw new Error("Reading facts about a WordPress returned an unknown result.");
  return found;
}

/** Short, because the caller waits. */
const userSeconds = 30;

function isUser(value: unknown): value is WordPressUser | null {
  return value === null || (typeof value === "object" && "login" in value && "isAdministrator" in value);
}

export async function storedUserOf(job: Omit<UserJob, "kind">): Promise<WordPressUser | null> {
  const found = await run({ kind: "user", ...job }, { deadlineSeconds: userSeconds });
  if (!isUser(found)) throw new Error("Searching for a user returned an unknown result.");
  return found;
}

function isRowCounts(value: unknown): value is RowCounts {
  return typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "number");
}

export async function countRowsOf(job: Omit<CountJob, "kind">, signal: AbortSignal): Promise<RowCounts> {
  const found = await run({ kind: "count", ...job }, { signal });
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

export async function replaceTextsOf(job: Omit<ReplaceJob, "kind">, signal?: AbortSignal): Promise<Replacements> {
  const options = { deadlineSeconds: dumpSeconds, ...(signal && { signal }) };
  return asReplacements(await run({ kind: "replace", ...job }, options));
}

function isDumped(value: unknown): value is Dumped {
  return typeof value === "object" && value !== null && "tables" in value && "notes" in value;
}

export async function dumpDatabase(job: Omit<DumpJob, "kind">): Promise<Dumped> {
  const dumped = await run({ kind: "dump", ...job }, { deadlineSeconds: dumpSeconds });
  if (!isDumped(dumped)) throw new Error("Dumping a database returned an unknown result.");
  return dumped;
}
