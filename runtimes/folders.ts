/** Where a runtime keeps environments: names, and the moves by which one appears and disappears at once. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { EnvironmentRef } from "./runtime.ts";

const run = promisify(execFile);

/** An environment is there exactly if the folder `live` is; the others are out of sight. */
export interface EnvironmentFolders {
  readonly live: string;
  /** Being built. */
  readonly beside: string;
  readonly retired: string;
  /** Being removed. */
  readonly doomed: string;
}

/** Throws if the id could leave the folder: ids are made by us, so that is a bug and not a refusal. */
export function environmentFolders(root: string, environment: Pick<EnvironmentRef, "id">): EnvironmentFolders {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(environment.id)) throw new Error("Not an environment id");
  const live = path.join(root, environment.id);
  return { live, beside: `${live}.new`, retired: `${live}.retired`, doomed: `${live}.doomed` };
}

/** Rejects if the disk does not say: what can't be looked at may be there. */
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

/** Renames `from` to `to`; false if `from` is not there. */
export async function moveIfThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}

/**
 * Makes `folder` whole or not at all: `build` fills a place in `beside`, which then gets the name. Where the folder is
 * there already, only what an earlier try has left is removed. Each try has a place of its own: a killed process may
 * have left a child that still copies into its place.
 */
export async function buildWhole(
  folder: string,
  beside: string,
  build: (place: string) => Promise<void>,
): Promise<void> {
  await removeTree(beside);
  if (await exists(folder)) return;
  const place = path.join(beside, randomUUID());
  try {
    await mkdir(place, { recursive: true });
    await build(place);
    await rename(place, folder);
    await syncFolder(path.dirname(folder));
  } finally {
    await removeTree(beside);
  }
}

export async function retireFolder(folders: EnvironmentFolders): Promise<void> {
  await moveIfThere(folders.live, folders.retired);
}

export async function reinstateFolder(folders: EnvironmentFolders): Promise<void> {
  await moveIfThere(folders.retired, folders.live);
}

/** Moved away by one rename, so that a half-removed environment is never visible; then removed. */
export async function destroyFolder(folders: EnvironmentFolders): Promise<void> {
  await removeTree(folders.doomed);
  for (const folder of [folders.live, folders.retired, folders.beside]) {
    if (await moveIfThere(folder, folders.doomed)) await removeTree(folders.doomed);
  }
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM");
}

/** Also where a folder in it may not be written to: sites close their own folders. Tolerates that there is none. */
export async function removeTree(folder: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: 3 };
  try {
    await rm(folder, options);
  } catch (error) {
    if (!isDenied(error)) throw error;
    // Folders alone: a file may be a site's own under another name, and its permissions with it.
    await run("find", [folder, "-type", "d", "-exec", "chmod", "u+rwx", "{}", ";"]);
    await rm(folder, options);
  }
}

/** Makes a folder's list of names durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
