/**
 * Temporary folders of browsers. If we are root, each run has a user of its own, who owns nothing but its folder. That folder
 * is in one of ours, so the user can't replace it by a link.
 */
import { constants } from "node:fs";
import { chmod, chown, type FileHandle, lstat, mkdir, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { browserUsers } from "@sitewright/runtimes/owner.ts";
import { createTurns } from "@sitewright/runtimes/turns.ts";

/** Not in the data folder, which other users can't enter. */
const prefix = "sitewright-picture-";
const maxPictureBytes = 64 << 20;

export interface BrowserPlace {
  readonly folder: string;
  /** User and group id; null: this process's user. */
  readonly user: number | null;
}

/** As many as there are users. Further ones wait. */
const turns = createTurns({ total: browserUsers().length });
const usersInUse = new Set<number>();

function takeUser(): number | null {
  if (process.getuid?.() !== 0) return null;
  const user = browserUsers().find((each) => !usersInUse.has(each));
  if (user === undefined) throw new Error("Too many browsers are running.");
  usersInUse.add(user);
  return user;
}

/**
 * Calls `work` with a new folder, which is removed at the end. Waits while too many browsers are running; rejects with the
 * signal's reason if it is aborted meanwhile.
 */
export function withBrowserPlace<T>(work: (place: BrowserPlace) => Promise<T>, signal?: AbortSignal): Promise<T> {
  return turns.run("browsers", () => workInPlace(work), signal);
}

async function workInPlace<T>(work: (place: BrowserPlace) => Promise<T>): Promise<T> {
  const outer = await mkdtemp(path.join(tmpdir(), prefix));
  const user = takeUser();
  try {
    await chmod(outer, 0o711);
    const folder = path.join(outer, "own");
    await mkdir(folder, { mode: 0o700 });
    if (user !== null) await chown(folder, user, user);
    return await work({ folder, user });
  } finally {
    await rm(outer, { recursive: true, force: true, maxRetries: 10 });
    if (user !== null) usersInUse.delete(user);
  }
}

/** Copies a file that the browser has written. Rejects if it is something else, such as a link to a file of ours. */
export async function copyFromBrowser({ folder, user }: BrowserPlace, name: string, target: string): Promise<void> {
  const handle = await open(path.join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await checkFile(handle, user ?? process.getuid?.());
    await writeFile(target, await handle.readFile(), { mode: 0o600 });
  } finally {
    await handle.close();
  }
}

async function checkFile(handle: FileHandle, owner: number | undefined): Promise<void> {
  const facts = await handle.stat();
  const isOwn = owner === undefined || facts.uid === owner;
  // A hard link may lead to a file of another browser.
  if (!facts.isFile() || !isOwn || facts.nlink !== 1)
    throw new Error("The browser's picture is not a file of its own.");
  if (facts.size > maxPictureBytes) throw new Error("The browser's picture is too large.");
}

/** Removes temporary folders of killed processes that are older than `before`. */
export async function removeLeftoverScreenshots(before: Date, folder = tmpdir()): Promise<void> {
  // Other users may have folders with this prefix. Folders of earlier versions belong to the browser's user.
  const ourUsers = process.getuid?.() === 0 ? [0, ...browserUsers()] : [process.getuid?.()];
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const place = path.join(folder, name);
    const facts = await lstat(place).catch(() => null);
    if (!facts?.isDirectory() || !ourUsers.includes(facts.uid) || facts.mtime >= before) continue;
    await rm(place, { recursive: true, force: true, maxRetries: 10 });
  }
}
