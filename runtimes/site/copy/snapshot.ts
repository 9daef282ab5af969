/** Snapshots an environment for an archive: hard links to its files, and a copy of its database. */
import { chmod, mkdir } from "node:fs/promises";
import path from "node:path";
import { linkLive } from "../../copy.ts";
import { buildAtomically, environmentFolders } from "../../folders.ts";
import {
  firstRelease,
  partOf,
  type Release,
  requireRelease,
  requireStillCurrent,
  writeRecord,
} from "../../releases.ts";
import type { EnvironmentRef } from "../../runtime.ts";
import { bothSettled } from "../bothSettled.ts";
import type { SiteContext } from "../context.ts";
import { addCoreToSnapshot } from "../core.ts";
import { databaseOf, recordOf, reportFullDisk } from "../release.ts";
import type { SiteDatabase } from "../siteDatabase.ts";

/** Creates a snapshot atomically. Does nothing if the folder exists. */
export async function snapshot(
  environment: EnvironmentRef,
  folder: string,
  { environments, assets, database }: SiteContext,
): Promise<void> {
  const { live } = environmentFolders(environments, environment);
  await mkdir(path.dirname(folder), { recursive: true });
  const build = async (target: string) => {
    const release = await requireRelease(live);
    await chmod(target, 0o700);
    await requireStillCurrent(live, release, copyParts(environment, release, target, database));
    await addCoreToSnapshot(assets, recordOf(release), target);
    await writeRecord(target, { ...recordOf(release), ...firstRelease });
  };
  await reportFullDisk(() => buildAtomically(folder, `${folder}.new`, build));
}

async function copyParts(of: EnvironmentRef, release: Release, target: string, database: SiteDatabase): Promise<void> {
  const [files, own] = await Promise.all([partOf(release, "public"), databaseOf(of, release)]);
  await bothSettled(
    linkLive(files, path.join(target, "public")),
    database.copy(own, path.join(target, "database"), []),
  );
}
