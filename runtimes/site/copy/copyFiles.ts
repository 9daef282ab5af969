/** Replaces listed files and folders of one web root by another's. */
import { lstat, mkdir } from "node:fs/promises";
import path from "node:path";
import { copyLive } from "../../copy.ts";
import { removeTree } from "../../folders.ts";

/** Creates folders, replacing anything in the way. */
async function makeFolders(root: string, segments: readonly string[]): Promise<void> {
  for (const count of segments.keys()) {
    const folder = path.join(root, ...segments.slice(0, count + 1));
    const facts = await lstat(folder).catch(() => null);
    if (facts?.isDirectory()) continue;
    await removeTree(folder);
    await mkdir(folder);
  }
}

/** Copies the files. The list has been checked (`checkFiles`), and `to` is not in use yet. */
export async function copyFiles(files: readonly string[], from: string, to: string): Promise<void> {
  for (const file of files) {
    const target = path.join(to, file);
    await makeFolders(to, file.split("/").slice(0, -1));
    await removeTree(target);
    await copyLive(path.join(from, file), target);
  }
}
