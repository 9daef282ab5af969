/** A copy of an environment for an archive. */
import { chmod, mkdir } from "node:fs/promises";
import path from "node:path";
import { buildWhole } from "../../folders.ts";
import { firstRelease, partOf, writeRecord } from "../../releases.ts";
import { copyLive } from "./copy.ts";
import { copyDatabases } from "./databases.ts";
import { recordOf, requireRelease, tellFullDisk } from "./release.ts";

/** Whole or not at all; a folder that is there already is left as it is. `live` is the environment's folder. */
export async function snapshot(live: string, folder: string): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true });
  const build = async (place: string) => {
    const release = await requireRelease(live);
    await chmod(place, 0o700);
    await copyLive(await partOf(release, "public"), path.join(place, "public"));
    await copyDatabases({ from: await partOf(release, "database"), to: path.join(place, "database"), addresses: [] });
    await writeRecord(place, { ...recordOf(release), ...firstRelease });
  };
  await tellFullDisk(() => buildWhole(folder, `${folder}.new`, build));
}
