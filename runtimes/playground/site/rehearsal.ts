/** A second release like one that is staged, to be tried out: what that one shares with visitors is a copy here. */
import path from "node:path";
import { environmentFolders } from "../../folders.ts";
import { rehearseRelease, sharePart } from "../../releaseMoves.ts";
import { isOwnPart, partOf, type Release, writeRecord } from "../../releases.ts";
import type { EnvironmentRef } from "../../runtime.ts";
import { copyLive } from "./copy.ts";
import { copyDatabases } from "./databases.ts";
import { giveToEnvironment, recordOf, tellFullDisk } from "./release.ts";
import { together } from "./together.ts";

async function layOutFiles(staged: Release, folder: string): Promise<void> {
  if (await isOwnPart(staged, "public")) return sharePart("public", staged, folder);
  await copyLive(await partOf(staged, "public"), path.join(folder, "public"));
}

async function layOutDatabase(staged: Release, folder: string): Promise<void> {
  if (await isOwnPart(staged, "database")) return sharePart("database", staged, folder);
  const from = await partOf(staged, "database");
  await copyDatabases({ from, to: path.join(folder, "database"), addresses: [] });
}

/** Made anew each time. Throws where nothing is staged under this token. */
export async function rehearse(environment: EnvironmentRef, token: string, environments: string): Promise<Release> {
  const { live } = environmentFolders(environments, environment);
  const rehearsing = rehearseRelease(live, token, (staged, rehearsal) => async (folder) => {
    await together(layOutFiles(staged, folder), layOutDatabase(staged, folder));
    await giveToEnvironment(environment, folder);
    await writeRecord(folder, { ...recordOf(staged), token: rehearsal });
  });
  return tellFullDisk(() => rehearsing);
}
