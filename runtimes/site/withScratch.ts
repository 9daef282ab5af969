/** Temporary work on an environment. */
import { randomUUID } from "node:crypto";
import { removeTree } from "../folders.ts";
import { scratchFolder } from "../releaseMoves.ts";
import { reportFullDisk } from "./release.ts";

/**
 * Calls `work` with the path of a folder that does not exist yet, next to the releases of the environment in the folder `live`, and
 * removes it at the end. Throws `DiskFull` if the disk is full.
 */
export async function withScratch<T>(live: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = scratchFolder(live, randomUUID());
  try {
    return await reportFullDisk(() => work(folder));
  } finally {
    await removeTree(folder);
  }
}
