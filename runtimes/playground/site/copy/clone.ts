/** An environment that begins as a copy of another one, with salts of its own, or as a snapshot, with the salts that it had. */
import path from "node:path";
import { partOf } from "../../../releases.ts";
import type { CloneSpec } from "../../../runtime.ts";
import { bothSettled } from "../bothSettled.ts";
import { bringCore } from "../core.ts";
import { copyDatabases } from "../database/databases.ts";
import { makeEnvironment } from "../provision.ts";
import { recordOf, sourceRelease } from "../release.ts";
import { ownConfig } from "./configCopy.ts";
import { copyLive } from "./copy.ts";

/** Idempotent: an environment that is there is left as it is. */
export async function clone(
  { environment, source, addresses }: CloneSpec,
  environments: string,
  assets: string,
): Promise<{ readonly wordpressVersion: string | null }> {
  return makeEnvironment(environment, environments, async (place) => {
    const release = await sourceRelease(source, environments);
    const core = await bringCore(assets, release);
    const webRoot = path.join(place, "public");
    const [files, databases] = await Promise.all([partOf(release, "public"), partOf(release, "database")]);
    await bothSettled(
      copyLive(files, webRoot),
      copyDatabases({ from: databases, to: path.join(place, "database"), addresses }),
    );
    const facts = recordOf(release);
    if (facts.wordpressVersion !== null) await ownConfig(webRoot, "folder" in source ? files : null, addresses);
    return { ...facts, core };
  });
}
