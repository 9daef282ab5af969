/** Computes what staging a release would change. */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { copyLive } from "../../copy.ts";
import { environmentFolders } from "../../folders.ts";
import type { StageChanges, StageSpec } from "../../runtime.ts";
import type { SiteContext } from "../context.ts";
import type { SiteDatabase } from "../siteDatabase.ts";
import { unlessGone } from "../webRoot.ts";
import { withScratch } from "../withScratch.ts";
import { compareFiles } from "./compareFiles.ts";
import { configName, rewriteConfig } from "./configCopy.ts";
import { planStage, type StagePlan } from "./stage.ts";

const noFiles = { count: 0, bytes: 0, listed: [] };

/** Writes the configuration that the push would write, with the environment's own salts, into the new folder `to`. */
async function layOutConfig({ own, source, addresses }: StagePlan, to: string): Promise<void> {
  await mkdir(to);
  // A site may have no configuration, or a dangling link.
  await unlessGone(copyLive(path.join(source.webRoot, configName), path.join(to, configName)));
  await rewriteConfig(to, own.webRoot, addresses);
}

async function changedFiles(plan: StagePlan, scratch: string): Promise<StageChanges["files"]> {
  const { own, source, files } = plan;
  if (files === "none") return { added: noFiles, changed: noFiles, removed: noFiles };
  const only = files === "all" ? null : files;
  if (source.facts.wordpressVersion === null) return compareFiles(own.webRoot, source.webRoot, only);
  const rewritten = path.join(scratch, "public");
  await layOutConfig(plan, rewritten);
  return compareFiles(own.webRoot, source.webRoot, only, rewritten);
}

/** Works on copies, so that writers don't have to wait. */
async function lostRowsOf(plan: StagePlan, scratch: string, databases: SiteDatabase): Promise<StageChanges["lost"]> {
  const { own, source, database, addresses } = plan;
  if (database === "none") return [];
  // If only one of them has WordPress, the source database replaces no table of this one.
  const isSameKind = own.database.hasWordPress === source.database.hasWordPress;
  return databases.findLostRows({
    own: own.database,
    source: isSameKind ? source.database : null,
    scratch: path.join(scratch, "database"),
    tables: database === "all" ? null : database,
    addresses,
  });
}

/** Implements `Runtime.compare`. Throws `RuntimeFailure` like `stage`. */
export async function compareRelease(
  spec: Omit<StageSpec, "token">,
  { environments, database }: SiteContext,
): Promise<StageChanges> {
  const plan = await planStage(spec, environments);
  const { live } = environmentFolders(environments, spec.environment);
  return withScratch(live, async (scratch) => {
    await mkdir(scratch, { mode: 0o700 });
    return { files: await changedFiles(plan, scratch), lost: await lostRowsOf(plan, scratch, database) };
  });
}
