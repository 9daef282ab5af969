/** What a release would change that isn't staged yet. */
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { environmentFolders, removeTree } from "../../../folders.ts";
import { scratchFolder } from "../../../releaseMoves.ts";
import type { StageChanges, StageSpec } from "../../../runtime.ts";
import { findLostRows } from "../database/databases.ts";
import { tellFullDisk } from "../release.ts";
import { unlessGone } from "../webRoot.ts";
import { compareFiles } from "./compare.ts";
import { configName, ownConfig } from "./configCopy.ts";
import { copyLive } from "./copy.ts";
import { planStage, type StagePlan } from "./stage.ts";

const nothing = { count: 0, bytes: 0, listed: [] };

/** Puts the configuration that the push would write, with the environment's own keys, into the new folder `to`. */
async function layOutConfig({ own, source, addresses }: StagePlan, to: string): Promise<void> {
  await mkdir(to);
  // A site may do without, or have a link there that leads nowhere.
  await unlessGone(copyLive(path.join(source.webRoot, configName), path.join(to, configName)));
  await ownConfig(to, own.webRoot, addresses);
}

async function changedFiles(plan: StagePlan, scratch: string): Promise<StageChanges["files"]> {
  const { own, source, files } = plan;
  if (files === "none") return { added: nothing, changed: nothing, removed: nothing };
  const only = files === "all" ? null : files;
  if (source.facts.wordpressVersion === null) return compareFiles(own.webRoot, source.webRoot, only);
  const rewritten = path.join(scratch, "public");
  await layOutConfig(plan, rewritten);
  return compareFiles(own.webRoot, source.webRoot, only, rewritten);
}

/** Works on copies, so that writers don't have to wait. */
async function lost(plan: StagePlan, scratch: string): Promise<StageChanges["lost"]> {
  const { own, source, database, addresses } = plan;
  if (database === "none") return [];
  // With WordPress and without: nothing comes in the place of what the environment has.
  const isSameKind = path.basename(own.database) === path.basename(source.database);
  return findLostRows({
    own: own.database,
    source: isSameKind ? source.database : null,
    scratch: path.join(scratch, "source.sqlite"),
    tables: database === "all" ? null : database,
    addresses,
  });
}

/** Throws `RuntimeFailure` as `stage` does. */
export async function compareRelease(spec: Omit<StageSpec, "token">, environments: string): Promise<StageChanges> {
  const plan = await planStage(spec, environments);
  const scratch = scratchFolder(environmentFolders(environments, spec.environment).live, randomUUID());
  return tellFullDisk(async () => {
    await mkdir(scratch, { mode: 0o700 });
    try {
      return { files: await changedFiles(plan, scratch), lost: await lost(plan, scratch) };
    } finally {
      await removeTree(scratch);
    }
  });
}
