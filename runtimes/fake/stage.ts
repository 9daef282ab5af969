/** Stages a fake release from parts of another environment and its own, like every runtime. */
import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { checkFiles } from "../fileList.ts";
import { removeTree } from "../folders.ts";
import { sharePart } from "../releaseMoves.ts";
import { partOf, type Release, writeRecord } from "../releases.ts";
import { type FileChanges, type ProvisionSpec, RuntimeFailure, type StageChanges, type StageSpec } from "../runtime.ts";
import { incomingTables, lostRows, readTables, writeTables } from "./database.ts";
import { copyPart, sharedFoldersOf, specOf, writeSpec } from "./release.ts";

type Choices = Pick<StageSpec, "files" | "database" | "addresses">;

/** A valid combination of choices. Empty lists have become `none`. */
export interface Plan extends Choices {
  readonly own: Release;
  readonly source: Release;
  readonly ownSpec: ProvisionSpec;
  readonly sourceSpec: ProvisionSpec;
}

export async function planStage(own: Release, source: Release, choices: Choices): Promise<Plan> {
  const [ownSpec, sourceSpec] = await Promise.all([specOf(own), specOf(source)]);
  const files = Array.isArray(choices.files)
    ? await checkFiles(await partOf(source, "public"), choices.files, sharedFoldersOf(sourceSpec))
    : choices.files;
  const plan = {
    own,
    source,
    ownSpec,
    sourceSpec,
    files: files.length === 0 ? "none" : files,
    database: choices.database.length === 0 ? "none" : choices.database,
    addresses: choices.addresses,
  } as const;
  const isMixed = plan.files !== plan.database || Array.isArray(plan.files);
  if (isMixed && kindOf(ownSpec) !== kindOf(sourceSpec)) {
    throw new RuntimeFailure("The environments are of different kinds. Copy all files and the whole database.");
  }
  return plan;
}

function kindOf({ wordpress }: ProvisionSpec): string {
  return wordpress === null ? "none" : (wordpress.multisite ?? "single");
}

async function fillPublic({ own, source, files }: Plan, folder: string): Promise<void> {
  if (files === "none") return sharePart("public", own, folder);
  await copyPart("public", files === "all" ? source : own, folder);
  if (files === "all") return;
  for (const file of files) {
    const target = path.join(folder, "public", file);
    await removeTree(target);
    await cp(path.join(await partOf(source, "public"), file), target, { recursive: true });
  }
}

async function fillDatabase({ own, source, database, addresses }: Plan, folder: string): Promise<void> {
  if (database === "none") return sharePart("database", own, folder);
  const isComplete = database === "all";
  const theirs = await readTables(await partOf(source, "database"));
  const incoming = incomingTables(theirs, isComplete ? null : database, addresses);
  const kept = isComplete ? {} : await readTables(await partOf(own, "database"));
  await mkdir(path.join(folder, "database"));
  await writeTables(path.join(folder, "database"), { ...kept, ...incoming });
}

/** Fills the release. `between` is called after the files are written and before the database is. */
export async function fillNext(plan: Plan, token: string, folder: string, between: () => Promise<void>): Promise<void> {
  const { own, ownSpec, sourceSpec, files, database, addresses } = plan;
  await fillPublic(plan, folder);
  await between();
  await fillDatabase(plan, folder);
  const showsSource = files === "all" || database === "all";
  const shown = showsSource ? { ...sourceSpec, environment: ownSpec.environment } : ownSpec;
  await writeSpec(folder, shown, showsSource ? addresses : []);
  await writeRecord(folder, { token, previous: own.number });
}

/** Copies a staged release. `between` as in `fillNext`. */
export async function fillRehearsal(
  staged: Release,
  token: string,
  folder: string,
  between: () => Promise<void>,
): Promise<void> {
  await copyPart("public", staged, folder);
  await between();
  await copyPart("database", staged, folder);
  await writeSpec(folder, await specOf(staged), []);
  await writeRecord(folder, { token, previous: staged.record.previous });
}

/** Returns file content by path. `only`: these files, and files below these folders. */
async function contentsOf(release: Release, only: readonly string[] | null): Promise<ReadonlyMap<string, string>> {
  const root = await partOf(release, "public");
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .filter((file) => only?.some((name) => file === name || file.startsWith(`${name}/`)) ?? true);
  const contents = files.map(async (file) => [file, await readFile(path.join(root, file), "utf8")] as const);
  return new Map(await Promise.all(contents));
}

function summary(files: readonly (readonly [file: string, content: string])[]): FileChanges {
  const found = files.map(([file, content]) => ({ path: file, bytes: Buffer.byteLength(content) }));
  const listed = found.toSorted((a, b) => (a.path < b.path ? -1 : 1)).slice(0, 100);
  return { count: found.length, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0), listed };
}

async function changedFiles({ own, source, files }: Plan): Promise<StageChanges["files"]> {
  if (files === "none") return { added: summary([]), changed: summary([]), removed: summary([]) };
  const only = files === "all" ? null : files;
  const [ours, theirs] = await Promise.all([contentsOf(own, only), contentsOf(source, only)]);
  return {
    added: summary([...theirs].filter(([file]) => !ours.has(file))),
    changed: summary([...theirs].filter(([file, content]) => ours.has(file) && ours.get(file) !== content)),
    removed: summary([...ours].filter(([file]) => files === "all" && !theirs.has(file))),
  };
}

export async function compare(plan: Plan): Promise<StageChanges> {
  const { own, source, database, addresses } = plan;
  const files = await changedFiles(plan);
  if (database === "none") return { files, lost: [] };
  const ours = await readTables(await partOf(own, "database"));
  const theirs = await readTables(await partOf(source, "database"));
  const tables = database === "all" ? null : database;
  return { files, lost: lostRows(ours, incomingTables(theirs, tables, addresses), tables) };
}
