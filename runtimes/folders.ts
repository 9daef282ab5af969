/** The folders of an environment, and how it appears and disappears atomically. */
import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rmdir, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { runCommand } from "./command.ts";
import type { EnvironmentRef } from "./runtime.ts";

/** An environment exists exactly if its folder `live` exists; the other folders are internal. */
export interface EnvironmentFolders {
  readonly live: string;
  /** The environment while it is built. */
  readonly building: string;
  readonly retired: string;
  /** The environment while it is removed. */
  readonly removing: string;
}

/**
 * Returns the folders of an environment. Throws if the id could lead out of `root`: ids are generated here, so that is
 * a bug.
 */
export function environmentFolders(root: string, environment: Pick<EnvironmentRef, "id">): EnvironmentFolders {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(environment.id)) throw new Error("Not an environment id");
  const live = path.join(root, environment.id);
  return { live, building: `${live}.new`, retired: `${live}.retired`, removing: `${live}.removing` };
}

/** Whether a file exists. Rejects if that can't be determined, for example for lack of permission. */
export async function exists(file: string): Promise<boolean> {
  try {
    await stat(file);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return false;
    throw error;
  }
}

/** Renames `from` to `to`. Returns false if `from` doesn't exist. */
export async function renameIfExists(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}

/**
 * Creates `folder` atomically: `build` fills a temporary folder in `building`, which is then renamed. If `folder`
 * exists, only leftovers of an earlier attempt are removed. Each attempt uses a new temporary folder, because a killed
 * process may have left a child that still writes to the old one.
 */
export async function buildAtomically(
  folder: string,
  building: string,
  build: (temporary: string) => Promise<void>,
): Promise<void> {
  await removeTree(building);
  if (await exists(folder)) return;
  const temporary = path.join(building, randomUUID());
  try {
    await mkdir(temporary, { recursive: true });
    await build(temporary);
    await rename(temporary, folder);
    await syncFolder(path.dirname(folder));
  } finally {
    await removeTree(building);
  }
}

export async function retireFolder(folders: EnvironmentFolders): Promise<void> {
  await renameIfExists(folders.live, folders.retired);
}

export async function reinstateFolder(folders: EnvironmentFolders): Promise<void> {
  await renameIfExists(folders.retired, folders.live);
}

/** Removes an environment for good. It is renamed first, so that a half-removed environment is never visible. */
export async function destroyFolder(folders: EnvironmentFolders): Promise<void> {
  await removeTree(folders.removing);
  for (const folder of [folders.live, folders.retired, folders.building]) {
    if (await renameIfExists(folder, folders.removing)) await removeTree(folders.removing);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** A program of the site may still add files while its folder is removed. */
const maxRetries = 3;
const retryMilliseconds = 100;

/**
 * Removes a folder with its content, including read-only folders: sites make their folders read-only. Does nothing if
 * the folder doesn't exist. The system's `rm` uses a tenth of the processor time that Node would, and not this process's.
 */
export async function removeTree(folder: string): Promise<void> {
  const isRemoved = await rmdir(folder).then(() => true, isMissing);
  for (let retries = 0; !isRemoved; retries += 1) {
    try {
      await runCommand("rm", ["-rf", "--", folder]);
      return;
    } catch (error) {
      if (retries >= maxRetries) throw error;
    }
    // Only folders: a file may be hard-linked from a site, and its mode would change there too.
    await runCommand("find", [folder, "-type", "d", "-exec", "chmod", "u+rwx", "{}", ";"]);
    await delay(retries * retryMilliseconds);
  }
}

/** Writes a folder's entries to disk (fsync). */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
