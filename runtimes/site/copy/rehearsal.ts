/** A copy of a staged release for a trial; it shares nothing with the live site. */
import path from "node:path";
import { copyLive } from "../../copy.ts";
import { environmentFolders } from "../../folders.ts";
import { rehearseRelease } from "../../releaseMoves.ts";
import { partOf, type Release, writeRecord } from "../../releases.ts";
import type { EnvironmentRef } from "../../runtime.ts";
import { bothSettled } from "../bothSettled.ts";
import type { SiteContext } from "../context.ts";
import { databaseOf, giveToEnvironment, recordOf, reportFullDisk } from "../release.ts";

/** Implements `Runtime.rehearse`. Creates a new copy at each call. Throws if nothing is staged under this token. */
export async function rehearse(
  environment: EnvironmentRef,
  token: string,
  { environments, database }: SiteContext,
): Promise<Release> {
  const { live } = environmentFolders(environments, environment);
  const rehearsing = rehearseRelease(live, token, (staged, rehearsal) => async (folder) => {
    const [files, own] = await Promise.all([partOf(staged, "public"), databaseOf(environment, staged)]);
    await bothSettled(
      copyLive(files, path.join(folder, "public")),
      database.copy(own, path.join(folder, "database"), []),
    );
    await giveToEnvironment(environment, folder);
    await writeRecord(folder, { ...recordOf(staged), token: rehearsal });
  });
  return reportFullDisk(() => rehearsing);
}
