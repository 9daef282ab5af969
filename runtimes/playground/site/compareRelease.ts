/** What a release would change that isn't staged yet. */
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { environmentFolders, removeTree } from "../../folders.ts";
import { scratchFolder } from "../../releaseMoves.ts";
import type { StageChanges, StageSpec } from "../../runtime.ts";
import { compareFiles } from "./compare.ts";
import { findLostRows } from "./databases.ts";
import { tellFullDisk } from "./release.ts";
import { planStage, type StagePlan } from "./stage.ts";

const nothing = { count: 0, bytes: 0, listed: [] };

async function changedFiles({ own, source, files }: StagePlan): Promise<StageChanges["files"]> {
  if (files === "none") return { added: nothing, changed: nothing, removed: nothing };
  return compareFiles(own.webRoot, source.webRoot, files === "all" ? null : files);
}

/** Works on copies, so that nobody who writes has to wait for it. */
async function lost({ own, source, database }: StagePlan, live: string): Promise<StageChanges["lost"]> {
  // With WordPress and without: what the environment has is not what the source could have.
  const isSameKind = path.basename(own.database) === path.basename(source.database);
  if (database === "none" || !isSameKind) return [];
  const folder = scratchFolder(live, randomUUID());
  await mkdir(folder, { mode: 0o700 });
  try {
    return await findLostRows({
      own: own.database,
      source: source.database,
      scratch: path.join(folder, "source.sqlite"),
      tables: database === "all" ? null : database,
    });
  } finally {
    await removeTree(folder);
  }
}

/** Throws `RuntimeFailure` as `stage` does. */
export async function compareRelease(spec: Omit<StageSpec, "token">, environments: string): Promise<StageChanges> {
  const plan = await planStage(spec, environments);
  const { live } = environmentFolders(environments, spec.environment);
  return tellFullDisk(async () => ({ files: await changedFiles(plan), lost: await lost(plan, live) }));
}
