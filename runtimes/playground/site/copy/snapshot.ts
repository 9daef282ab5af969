/** Snapshots an environment for an archive: hard links to its files, and a copy of its database. */
import { chmod, mkdir } from "node:fs/promises";
import path from "node:path";
import { buildAtomically } from "../../../folders.ts";
import {
  firstRelease,
  partOf,
  type Release,
  requireRelease,
  requireStillCurrent,
  writeRecord,
} from "../../../releases.ts";
import type { EnvironmentRef } from "../../../runtime.ts";
import { bothSettled } from "../bothSettled.ts";
import { addCoreToSnapshot } from "../core.ts";
import { copyDatabases } from "../database/databases.ts";
import { recordOf, reportFullDisk } from "../release.ts";
import { linkLive } from "./copy.ts";

/**
 * Creates a snapshot atomically. Does nothing if the folder exists. `live` is the environment's folder, `assets` the
 * folder of shared files.
 */
export async function snapshot(
  environment: EnvironmentRef,
  live: string,
  folder: string,
  assets: string,
): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true });
  const build = async (target: string) => {
    const release = await requireRelease(live);
    await chmod(target, 0o700);
    await requireStillCurrent(live, release, copyParts(environment, release, target));
    await addCoreToSnapshot(assets, recordOf(release), target);
    await writeRecord(target, { ...recordOf(release), ...firstRelease });
  };
  await reportFullDisk(() => buildAtomically(folder, `${folder}.new`, build));
}

async function copyParts(of: EnvironmentRef, release: Release, target: string): Promise<void> {
  const [files, databases] = await Promise.all([partOf(release, "public"), partOf(release, "database")]);
  await bothSettled(
    linkLive(files, path.join(target, "public")),
    copyDatabases({ of, from: databases, to: path.join(target, "database"), addresses: [] }),
  );
}
