/** Stages the next release of an environment from parts of another one and its own. */
import path from "node:path";
import { copyLive } from "../../copy.ts";
import { checkFiles } from "../../fileList.ts";
import { environmentFolders } from "../../folders.ts";
import { sharePart, stageRelease } from "../../releaseMoves.ts";
import { partOf, type Release, writeRecord } from "../../releases.ts";
import { RuntimeFailure, type StageSpec } from "../../runtime.ts";
import { bothSettled } from "../bothSettled.ts";
import type { SiteContext } from "../context.ts";
import { importCore } from "../core.ts";
import { plainFacts } from "../plain.ts";
import {
  databaseOf,
  giveToEnvironment,
  isIncomplete,
  type ReleaseFacts,
  type ReleaseRecord,
  recordOf,
  reportFullDisk,
  sharedFoldersOf,
  sourceRelease,
} from "../release.ts";
import type { DatabaseOf, SiteDatabase } from "../siteDatabase.ts";
import { configName, rewriteConfig } from "./configCopy.ts";
import { copyFiles } from "./copyFiles.ts";

/** One of the two sides: an environment's current release, or a snapshot. */
interface Side {
  readonly release: Release;
  readonly facts: ReleaseFacts;
  readonly webRoot: string;
  readonly database: DatabaseOf;
}

/** A checked specification: everything in it exists and is compatible. */
export interface StagePlan {
  readonly own: Side;
  readonly source: Side;
  /** Paths have no trailing slash. Empty lists have become `none`, here and below. */
  readonly files: StageSpec["files"];
  readonly database: StageSpec["database"];
  readonly addresses: StageSpec["addresses"];
}

async function sideOf(source: StageSpec["source"], environments: string): Promise<Side> {
  const release = await sourceRelease(source, environments);
  const [webRoot, database] = await Promise.all([partOf(release, "public"), databaseOf(source, release)]);
  return { release, facts: recordOf(release), webRoot, database };
}

/** Returns the environment's side. Its release may be incomplete if it is replaced completely. */
async function ownSide(spec: Omit<StageSpec, "token">, environments: string): Promise<Side> {
  const release = await sourceRelease(spec.environment, environments);
  if (!(await isIncomplete(release))) return sideOf(spec.environment, environments);
  if (!isComplete(spec)) {
    throw new RuntimeFailure(
      "The environment is damaged, so none of its parts can be kept. Replace its files and its database together.",
    );
  }
  const database = { of: spec.environment, folder: path.join(release.folder, "database"), hasWordPress: false };
  return { release, facts: plainFacts, webRoot: path.join(release.folder, "public"), database };
}

/** Requires both sides to be of the same kind: only then can files of one run with the database of the other. */
function checkKinds(own: ReleaseFacts, source: ReleaseFacts): void {
  const advice = "Copy all files and the whole database";
  if ((own.wordpressVersion === null) !== (source.wordpressVersion === null)) {
    throw new RuntimeFailure(`Only one of the environments has WordPress. ${advice}.`);
  }
  if (own.wordpressVersion !== source.wordpressVersion) {
    throw new RuntimeFailure(
      `The environments have different versions of WordPress, ${source.wordpressVersion} and ${own.wordpressVersion}. ` +
        `${advice}, or update one of them first.`,
    );
  }
  if (own.multisite !== source.multisite) {
    throw new RuntimeFailure(`The environments are different kinds of network. ${advice}.`);
  }
}

/** Checks a specification. Throws `RuntimeFailure` that names the missing or incompatible part. */
export async function planStage(spec: Omit<StageSpec, "token">, environments: string): Promise<StagePlan> {
  const [own, source] = await Promise.all([ownSide(spec, environments), sideOf(spec.source, environments)]);
  const database = spec.database.length === 0 ? "none" : spec.database;
  const files = Array.isArray(spec.files)
    ? await checkFiles(source.webRoot, spec.files, sharedFoldersOf(source.facts))
    : spec.files;
  const plan = { own, source, files: files.length === 0 ? "none" : files, database, addresses: spec.addresses };
  const isMixed = (plan.files !== "none" || database !== "none") && !isComplete(plan);
  if (isMixed) checkKinds(own.facts, source.facts);
  return plan;
}

/** Whether the environment's files and database are both replaced completely. */
function isComplete({ files, database }: Pick<StagePlan, "files" | "database">): boolean {
  return files === "all" && database === "all";
}

async function layOutFiles({ own, source, files, addresses }: StagePlan, folder: string): Promise<void> {
  if (files === "none") return sharePart("public", own.release, folder);
  const webRoot = path.join(folder, "public");
  await copyLive(files === "all" ? source.webRoot : own.webRoot, webRoot);
  if (files !== "all") await copyFiles(files, source.webRoot, webRoot);
  const isConfigCopied = files === "all" || files.includes(configName);
  if (isConfigCopied && source.facts.wordpressVersion !== null) await rewriteConfig(webRoot, own.webRoot, addresses);
}

async function layOutDatabase(plan: StagePlan, folder: string, databases: SiteDatabase): Promise<void> {
  const { own, source, database, addresses } = plan;
  if (database === "none") return sharePart("database", own.release, folder);
  const to = path.join(folder, "database");
  if (database === "all") return databases.copy(source.database, to, addresses);
  await databases.copy(own.database, to, []);
  await databases.replaceTables({
    own: { ...own.database, folder: to },
    source: source.database,
    scratch: path.join(folder, "source"),
    tables: database,
    addresses,
  });
}

function nextRecord(plan: StagePlan, core: string | null, token: string): ReleaseRecord {
  const { wordpressVersion, multisite } = isComplete(plan) ? plan.source.facts : plan.own.facts;
  return { wordpressVersion, multisite, core, token, previous: plan.own.release.number };
}

/** Implements `Runtime.stage`. */
export async function stage(spec: StageSpec, { environments, assets, database }: SiteContext): Promise<void> {
  const { live } = environmentFolders(environments, spec.environment);
  const plan = async () => {
    const planned = await planStage(spec, environments);
    const core = isComplete(planned) ? await importCore(assets, planned.source.release) : planned.own.facts.core;
    return async (folder: string) => {
      await bothSettled(layOutFiles(planned, folder), layOutDatabase(planned, folder, database));
      await giveToEnvironment(spec.environment, folder);
      await writeRecord(folder, nextRecord(planned, core, spec.token));
    };
  };
  await reportFullDisk(() => stageRelease(live, spec.token, plan));
}
