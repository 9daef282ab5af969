/** The files with which WordPress uses SQLite: a drop-in, and the folder in which PHP sees the driver. */
import { lstat, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { removeTree } from "../folders.ts";
import { driverPlace } from "./driver.ts";

/** The drop-in that each template contains (`runtimes/playground/templates/template.ts`). */
const dropInFile = "wp-content/db.php";
const driverMark = "sqlite-database-integration";
const maxDropInBytes = 1_000_000;

/** Removes the SQLite driver, or the empty folder in its place, and its drop-in. Other drop-ins stay. */
export async function removeDropIn(webRoot: string): Promise<void> {
  await removeTree(path.join(webRoot, driverPlace));
  const dropIn = path.join(webRoot, dropInFile);
  const facts = await lstat(dropIn).catch(() => null);
  if (!facts?.isFile() || facts.size > maxDropInBytes) return;
  if ((await readFile(dropIn, "latin1")).includes(driverMark)) await rm(dropIn);
}
