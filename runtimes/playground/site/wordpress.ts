/** Reads facts about the WordPress of a release. */
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { removeTree } from "../../folders.ts";
import { scratchFolder } from "../../releaseMoves.ts";
import { partOf, type Release } from "../../releases.ts";
import type { EnvironmentRef, WordPressFacts } from "../../runtime.ts";
import { storedFactsOf } from "./database/databases.ts";
import { mainDatabase, recordOf, reportFullDisk } from "./release.ts";

/**
 * Returns the facts, or null if there is no WordPress. Reads a copy of the database, so that the original is only
 * opened for reading and writers don't wait. `live` is the environment's folder.
 */
export async function wordpressOf(of: EnvironmentRef, release: Release, live: string): Promise<WordPressFacts | null> {
  const facts = recordOf(release);
  if (facts.wordpressVersion === null) return null;
  const file = path.join(await partOf(release, "database"), mainDatabase(facts));
  const folder = scratchFolder(live, randomUUID());
  await mkdir(folder, { mode: 0o700 });
  try {
    const stored = await reportFullDisk(() => storedFactsOf({ of, file, scratch: path.join(folder, "copy.sqlite") }));
    return { ...stored, multisite: facts.multisite };
  } finally {
    await removeTree(folder);
  }
}
