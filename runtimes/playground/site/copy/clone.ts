/** Creates an environment as a copy of another one, with new salts, or from a snapshot, with the snapshot's salts. */
import path from "node:path";
import { partOf } from "../../../releases.ts";
import type { CloneSpec } from "../../../runtime.ts";
import { bothSettled } from "../bothSettled.ts";
import { importCore } from "../core.ts";
import { copyDatabases } from "../database/databases.ts";
import { makeEnvironment } from "../provision.ts";
import { recordOf, sourceRelease } from "../release.ts";
import { rewriteConfig } from "./configCopy.ts";
import { copyLive } from "./copy.ts";

/** Implements `Runtime.clone`. */
export async function clone(
  { environment, source, addresses }: CloneSpec,
  environments: string,
  assets: string,
): Promise<{ readonly wordpressVersion: string | null }> {
  return makeEnvironment(environment, environments, async (folder) => {
    const release = await sourceRelease(source, environments);
    const core = await importCore(assets, release);
    const webRoot = path.join(folder, "public");
    const [files, databases] = await Promise.all([partOf(release, "public"), partOf(release, "database")]);
    await bothSettled(
      copyLive(files, webRoot),
      copyDatabases({ of: source, from: databases, to: path.join(folder, "database"), addresses }),
    );
    const facts = recordOf(release);
    if (facts.wordpressVersion !== null) await rewriteConfig(webRoot, "folder" in source ? files : null, addresses);
    return { ...facts, core };
  });
}
