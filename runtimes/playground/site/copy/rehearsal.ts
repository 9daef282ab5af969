/** A copy of a staged release for a trial; it shares nothing with the live site. */
import path from "node:path";
import { environmentFolders } from "../../../folders.ts";
import { rehearseRelease } from "../../../releaseMoves.ts";
import { partOf, type Release, writeRecord } from "../../../releases.ts";
import type { EnvironmentRef } from "../../../runtime.ts";
import { bothSettled } from "../bothSettled.ts";
import { copyDatabases } from "../database/databases.ts";
import { giveToEnvironment, recordOf, reportFullDisk } from "../release.ts";
import { copyLive } from "./copy.ts";

/** Implements `Runtime.rehearse`. Creates a new copy at each call. Throws if nothing is staged under this token. */
export async function rehearse(environment: EnvironmentRef, token: string, environments: string): Promise<Release> {
  const { live } = environmentFolders(environments, environment);
  const rehearsing = rehearseRelease(live, token, (staged, rehearsal) => async (folder) => {
    const [files, databases] = await Promise.all([partOf(staged, "public"), partOf(staged, "database")]);
    await bothSettled(
      copyLive(files, path.join(folder, "public")),
      copyDatabases({ of: environment, from: databases, to: path.join(folder, "database"), addresses: [] }),
    );
    await giveToEnvironment(environment, folder);
    await writeRecord(folder, { ...recordOf(staged), token: rehearsal });
  });
  return reportFullDisk(() => rehearsing);
}
