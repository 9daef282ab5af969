/** The next release of an environment: made of parts of another one and of its own, beside the one that is served. */
import path from "node:path";
import { checkFiles } from "../../../fileList.ts";
import { environmentFolders } from "../../../folders.ts";
import { sharePart, stageRelease } from "../../../releaseMoves.ts";
import { partOf, type Release, writeRecord } from "../../../releases.ts";
import { RuntimeFailure, type StageSpec } from "../../../runtime.ts";
import { bothSettled } from "../bothSettled.ts";
import { bringCore } from "../core.ts";
import { copyDatabases, replaceTablesOf } from "../database/databases.ts";
import { plainFacts } from "../plain.ts";
import {
  giveToEnvironment,
  isLost,
  mainDatabase,
  type ReleaseFacts,
  type ReleaseRecord,
  recordOf,
  sharedFoldersOf,
  sourceRelease,
  tellFullDisk,
} from "../release.ts";
import { configName, ownConfig } from "./configCopy.ts";
import { copyLive } from "./copy.ts";
import { copyFiles } from "./copyFiles.ts";

/** One of the two environments as it is now, or as it was when a snapshot was made of it. */
interface Side {
  readonly release: Release;
  readonly facts: ReleaseFacts;
  readonly webRoot: string;
  /** Path of the main database. */
  readonly database: string;
}

/** A specification that has been looked at: everything in it is there, and goes together. */
export interface StagePlan {
  readonly own: Side;
  readonly source: Side;
  /** Paths have no slash at the end. An empty list has become `none`, here and below. */
  readonly files: StageSpec["files"];
  readonly database: StageSpec["database"];
  readonly addresses: StageSpec["addresses"];
}

async function sideOf(source: StageSpec["source"], environments: string): Promise<Side> {
  const release = await sourceRelease(source, environments);
  const facts = recordOf(release);
  const database = path.join(await partOf(release, "database"), mainDatabase(facts));
  return { release, facts, webRoot: await partOf(release, "public"), database };
}

/** What is replaced as a whole may be lost: something else takes its place all the same. */
async function ownSide(spec: Omit<StageSpec, "token">, environments: string): Promise<Side> {
  const release = await sourceRelease(spec.environment, environments);
  if (!(await isLost(release))) return sideOf(spec.environment, environments);
  if (!isWhole(spec)) {
    throw new RuntimeFailure(
      "What the environment is now is damaged, so that no part of it can stay: replace its files and its database together.",
    );
  }
  const [webRoot, database] = [path.join(release.folder, "public"), path.join(release.folder, "database")];
  return { release, facts: plainFacts, webRoot, database: path.join(database, mainDatabase(plainFacts)) };
}

/** Half of a site runs with the other half of another one only where both are of one kind. */
function checkKinds(own: ReleaseFacts, source: ReleaseFacts): void {
  const whatToDo = "Copy all files and the whole database";
  if ((own.wordpressVersion === null) !== (source.wordpressVersion === null)) {
    throw new RuntimeFailure(`Only one of the environments has WordPress. ${whatToDo}.`);
  }
  if (own.wordpressVersion !== source.wordpressVersion) {
    throw new RuntimeFailure(
      `The environments have different versions of WordPress, ${source.wordpressVersion} and ${own.wordpressVersion}. ` +
        `${whatToDo}, or update one of them first.`,
    );
  }
  if (own.multisite !== source.multisite) {
    throw new RuntimeFailure(`The environments are different kinds of network. ${whatToDo}.`);
  }
}

/** Throws `RuntimeFailure` that says what is not there or does not go together. */
export async function planStage(spec: Omit<StageSpec, "token">, environments: string): Promise<StagePlan> {
  const [own, source] = await Promise.all([ownSide(spec, environments), sideOf(spec.source, environments)]);
  const database = spec.database.length === 0 ? "none" : spec.database;
  const files = Array.isArray(spec.files)
    ? await checkFiles(source.webRoot, spec.files, sharedFoldersOf(source.facts))
    : spec.files;
  const plan = { own, source, files: files.length === 0 ? "none" : files, database, addresses: spec.addresses };
  const isMixed = (plan.files !== "none" || database !== "none") && !isWhole(plan);
  if (isMixed) checkKinds(own.facts, source.facts);
  return plan;
}

/** Whether nothing of the environment's own is left. */
function isWhole({ files, database }: Pick<StagePlan, "files" | "database">): boolean {
  return files === "all" && database === "all";
}

async function layOutFiles({ own, source, files, addresses }: StagePlan, folder: string): Promise<void> {
  if (files === "none") return sharePart("public", own.release, folder);
  const webRoot = path.join(folder, "public");
  await copyLive(files === "all" ? source.webRoot : own.webRoot, webRoot);
  if (files !== "all") await copyFiles(files, source.webRoot, webRoot);
  const isConfigCopied = files === "all" || files.includes(configName);
  if (isConfigCopied && source.facts.wordpressVersion !== null) await ownConfig(webRoot, own.webRoot, addresses);
}

async function layOutDatabase({ own, source, database, addresses }: StagePlan, folder: string): Promise<void> {
  if (database === "none") return sharePart("database", own.release, folder);
  const to = path.join(folder, "database");
  if (database === "all") return copyDatabases({ from: path.dirname(source.database), to, addresses });
  await copyDatabases({ from: path.dirname(own.database), to, addresses: [] });
  await replaceTablesOf({
    own: path.join(to, path.basename(own.database)),
    source: source.database,
    scratch: path.join(folder, "source.sqlite"),
    tables: database,
    addresses,
  });
}

function nextRecord(plan: StagePlan, core: string | null, token: string): ReleaseRecord {
  const { wordpressVersion, multisite } = isWhole(plan) ? plan.source.facts : plan.own.facts;
  return { wordpressVersion, multisite, core, token, previous: plan.own.release.number };
}

/** Idempotent: what is staged under this token already, or even served, is left as it is. */
export async function stage(spec: StageSpec, environments: string, assets: string): Promise<void> {
  const { live } = environmentFolders(environments, spec.environment);
  const plan = async () => {
    const planned = await planStage(spec, environments);
    const core = isWhole(planned) ? await bringCore(assets, planned.source.release) : planned.own.facts.core;
    return async (folder: string) => {
      await bothSettled(layOutFiles(planned, folder), layOutDatabase(planned, folder));
      await giveToEnvironment(spec.environment, folder);
      await writeRecord(folder, nextRecord(planned, core, spec.token));
    };
  };
  await tellFullDisk(() => stageRelease(live, spec.token, plan));
}
