/** An environment for an archive: its files, not copied but linked, and a copy of its database. */
import { chmod, mkdir } from "node:fs/promises";
import path from "node:path";
import { buildAtomically } from "../../../folders.ts";
import { firstRelease, partOf, type Release, requireStillCurrent, writeRecord } from "../../../releases.ts";
import { bothSettled } from "../bothSettled.ts";
import { addCore } from "../core.ts";
import { copyDatabases } from "../database/databases.ts";
import { recordOf, requireRelease, tellFullDisk } from "../release.ts";
import { linkLive } from "./copy.ts";

/** Whole or not at all; a folder that is there already is left as it is. `live` is the environment's folder, `assets` that of what all share. */
export async function snapshot(live: string, folder: string, assets: string): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true });
  const build = async (place: string) => {
    const release = await requireRelease(live);
    await chmod(place, 0o700);
    await requireStillCurrent(live, release, copyParts(release, place));
    await addCore(assets, recordOf(release), place);
    await writeRecord(place, { ...recordOf(release), ...firstRelease });
  };
  await tellFullDisk(() => buildAtomically(folder, `${folder}.new`, build));
}

async function copyParts(release: Release, place: string): Promise<void> {
  const [files, databases] = await Promise.all([partOf(release, "public"), partOf(release, "database")]);
  await bothSettled(
    linkLive(files, path.join(place, "public")),
    copyDatabases({ from: databases, to: path.join(place, "database"), addresses: [] }),
  );
}
