/** Creates an environment as a copy of another one, with new salts, or from a snapshot, with the snapshot's salts. */
import path from "node:path";
import { copyLive } from "../../copy.ts";
import { partOf } from "../../releases.ts";
import type { CloneSpec } from "../../runtime.ts";
import { bothSettled } from "../bothSettled.ts";
import type { SiteContext } from "../context.ts";
import { importCore } from "../core.ts";
import { makeEnvironment } from "../provision.ts";
import { databaseOf, recordOf, sourceRelease } from "../release.ts";
import { rewriteConfig } from "./configCopy.ts";

/** Implements `Runtime.clone`. */
export async function clone(
  { environment, source, addresses }: CloneSpec,
  context: SiteContext,
): Promise<{ readonly wordpressVersion: string | null }> {
  return makeEnvironment(environment, context.environments, async (folder) => {
    const release = await sourceRelease(source, context.environments);
    const core = await importCore(context.assets, release);
    const webRoot = path.join(folder, "public");
    const [files, database] = await Promise.all([partOf(release, "public"), databaseOf(source, release)]);
    await bothSettled(
      copyLive(files, webRoot),
      context.database.copy(database, path.join(folder, "database"), addresses),
    );
    const facts = recordOf(release);
    if (facts.wordpressVersion !== null) await rewriteConfig(webRoot, "folder" in source ? files : null, addresses);
    return { ...facts, core };
  });
}
