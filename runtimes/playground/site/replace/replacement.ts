/** Replacing texts in an environment's database: what it would come to, and a next release in which it is done. */
import { randomUUID } from "node:crypto";
import path from "node:path";
import { environmentFolders, removeTree } from "../../../folders.ts";
import { scratchFolder, sharePart, stageRelease } from "../../../releaseMoves.ts";
import { findRelease, partOf, type Release, writeRecord } from "../../../releases.ts";
import type { EnvironmentRef, Replacements, StageReplacementSpec, TextChange } from "../../../runtime.ts";
import { asReplacements, replaceTextsOf } from "../database/databases.ts";
import {
  giveToEnvironment,
  mainDatabase,
  type ReleaseRecord,
  recordOf,
  reportFullDisk,
  requireRelease,
} from "../release.ts";

/** What a release that came of a replacement is, and what was replaced in it. */
type ReplacedRecord = ReleaseRecord & { readonly replacements: Replacements };

async function replaceInCopy(
  release: Release,
  to: string,
  change: TextChange,
  signal?: AbortSignal,
): Promise<Replacements> {
  const from = await partOf(release, "database");
  return replaceTextsOf({ from, to, main: mainDatabase(recordOf(release)), change }, signal);
}

/** It is done in a copy, which nobody gets: so it comes to what the replacement itself would come to. */
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
    return await reportFullDisk(() => replaceInCopy(release, scratch, change, signal));
  } finally {
    await removeTree(scratch);
  }
}

export async function stageReplacement(
  { environment, token, change }: StageReplacementSpec,
  environments: string,
): Promise<Replacements> {
  const { live } = environmentFolders(environments, environment);
  const plan = async () => {
    const own = await requireRelease(live);
    return async (folder: string) => {
      await sharePart("public", own, folder);
      const replacements = await replaceInCopy(own, path.join(folder, "database"), change);
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
