/** Finds a user of a release's WordPress. */
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { removeTree } from "../../../folders.ts";
import { scratchFolder } from "../../../releaseMoves.ts";
import { partOf, type Release } from "../../../releases.ts";
import type { CompanyEnvironment, UserSearch } from "../../../runtime.ts";
import { storedUserOf } from "../database/databases.ts";
import { mainDatabase, recordOf, reportFullDisk } from "../release.ts";

/** Implements `Runtime.findUser`. Null if there is no WordPress. `live` is the environment's folder. */
export async function findUser(
  of: CompanyEnvironment,
  release: Release,
  live: string,
  email: string,
): Promise<UserSearch | null> {
  const facts = recordOf(release);
  if (facts.wordpressVersion === null) return null;
  const file = path.join(await partOf(release, "database"), mainDatabase(facts));
  const folder = scratchFolder(live, randomUUID());
  await mkdir(folder, { mode: 0o700 });
  try {
    const user = await reportFullDisk(() =>
      storedUserOf({ of, file, scratch: path.join(folder, "copy.sqlite"), email }),
    );
    return { user };
  } finally {
    await removeTree(folder);
  }
}
