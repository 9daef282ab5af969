/** Replaces texts in an environment's database: counts the matches, or stages a release with the replacements. */
import path from "node:path";
import { environmentFolders } from "../folders.ts";
import { sharePart, stageRelease } from "../releaseMoves.ts";
import { findRelease, type Release, requireRelease, writeRecord } from "../releases.ts";
import type { EnvironmentRef, Replacements, StageReplacementSpec, TextChange } from "../runtime.ts";
import type { SiteContext } from "./context.ts";
import { databaseOf, giveToEnvironment, type ReleaseRecord, recordOf, reportFullDisk } from "./release.ts";
import { withScratch } from "./withScratch.ts";

/** The record of a release that a replacement has created, with the replacements made. */
type ReplacedRecord = ReleaseRecord & { readonly replacements: Replacements };

function isReplacements(value: unknown): value is Replacements {
  return typeof value === "object" && value !== null && "places" in value && "skipped" in value && "addresses" in value;
}

/** Checks a value that comes from another process, or is stored for an earlier replacement. */
export function asReplacements(value: unknown): Replacements {
  if (!isReplacements(value)) throw new Error("Replacing texts in a database returned an unknown result.");
  return value;
}

/**
 * Implements `Runtime.countReplacements`. Replaces in a temporary copy, so the result is the same as that of a real
 * replacement.
 */
export async function countReplacements(
  environment: EnvironmentRef,
  change: TextChange,
  { environments, database }: SiteContext,
  signal: AbortSignal,
): Promise<Replacements> {
  const { live } = environmentFolders(environments, environment);
  const release = await requireRelease(live);
  const own = await databaseOf(environment, release);
  return withScratch(live, (scratch) => database.replaceTexts(own, scratch, change, signal));
}

/** Implements `Runtime.stageReplacement`. */
export async function stageReplacement(
  { environment, token, change }: StageReplacementSpec,
  { environments, database }: SiteContext,
): Promise<Replacements> {
  const { live } = environmentFolders(environments, environment);
  const plan = async () => {
    const own = await requireRelease(live);
    return async (folder: string) => {
      await sharePart("public", own, folder);
      const from = await databaseOf(environment, own);
      const replacements = await database.replaceTexts(from, path.join(folder, "database"), change);
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
