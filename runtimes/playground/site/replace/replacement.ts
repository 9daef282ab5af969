/** Replaces texts in an environment's database: counts the matches, or stages a release with the replacements. */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { environmentFolders, removeTree } from "../../../folders.ts";
import { scratchFolder, sharePart, stageRelease } from "../../../releaseMoves.ts";
import { findRelease, partOf, type Release, requireRelease, writeRecord } from "../../../releases.ts";
import type { EnvironmentRef, Replacements, StageReplacementSpec, TextChange } from "../../../runtime.ts";
import { asReplacements, replaceTextsOf } from "../database/databases.ts";
import { giveToEnvironment, mainDatabase, type ReleaseRecord, recordOf, reportFullDisk } from "../release.ts";

/** The record of a release that a replacement has created, with the replacements made. */
type ReplacedRecord = ReleaseRecord & { readonly replacements: Replacements };

async function replaceInCopy(
  of: EnvironmentRef,
  release: Release,
  to: string,
  change: TextChange,
  signal?: AbortSignal,
): Promise<Replacements> {
  const from = await partOf(release, "database");
  return replaceTextsOf({ of, from, to, main: mainDatabase(recordOf(release)), change }, signal);
}

/**
 * Implements `Runtime.countReplacements`. Replaces in a temporary copy, so the result is the same as that of a real
 * replacement.
 */
export async function countReplacements(
  environment: EnvironmentRef,
  change: TextChange,
  environments: string,
  signal: AbortSignal,
): Promise<Replacements> {
  const { live } = environmentFolders(environments, environment);
  const release = await requireRelease(live);
  const scratch = scratchFolder(live, randomUUID());
  try {
    return await reportFullDisk(() => replaceInCopy(environment, release, scratch, change, signal));
  } finally {
    await removeTree(scratch);
  }
}

/** Implements `Runtime.stageReplacement`. */
export async function stageReplacement(
  { environment, token, change }: StageReplacementSpec,
  environments: string,
): Promise<Replacements> {
  const { live } = environmentFolders(environments, environment);
  const plan = async () => {
    const own = await requireRelease(live);
    return async (folder: string) => {
      await sharePart("public", own, folder);
      const replacements = await replaceInCopy(environment, own, path.join(folder, "database"), change);
      await giveToEnvironment(environment, folder);
      const { wordpressVersion, multisite, core } = recordOf(own);
      const record: ReplacedRecord = { wordpressVersion, multisite, core, token, previous: own.number, replacements };
      await writeRecord(folder, record);
    };
  };
  await reportFullDisk(() => stageRelease(live, token, plan));
  return replacementsOf(await findRelease(live, token));
}

function replacementsOf(release: Release | null): Replacements {
  const record = release?.record;
  return asReplacements(record !== undefined && "replacements" in record ? record.replacements : null);
}
