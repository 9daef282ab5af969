/** Folders that change their owner, and what another user may have left in them. */
import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import path from "node:path";
import { runCommand } from "./command.ts";

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Changes the owner of a folder and its content. Doesn't follow links. */
export async function giveTo(owner: number, folder: string): Promise<void> {
  await runCommand("chown", ["-R", `${owner}:${owner}`, folder]);
}

/**
 * Opens a folder. Throws if it is not a folder of one of these owners, or a link: the owner of the folder above can put a link
 * to any folder in its place.
 */
export async function openFolderOf(owners: readonly number[], folder: string): Promise<FileHandle> {
  const opened = await open(folder, folderFlags);
  const { uid } = await opened.stat();
  if (owners.includes(uid)) return opened;
  await opened.close();
  throw new Error(`${folder} belongs to user ${uid} instead of ${owners.join(" or ")}.`);
}

/** Like `giveTo`, for a folder that is open, wherever it is by now. For Linux. */
export async function giveOpened(owner: number, { fd }: FileHandle): Promise<void> {
  await runCommand("chown", ["-R", `${owner}:${owner}`, "."], { cwd: `/proc/${process.pid}/fd/${fd}` });
}

/** Who must be able to reach a folder. */
interface Passer {
  readonly user: number;
  readonly group: number;
}

/** Throws if another group has access to the folder and would lose it. */
async function letPassOne({ user, group }: Passer, handle: FileHandle, folder: string): Promise<void> {
  const { uid, gid, mode } = await handle.stat();
  const isPassable = (mode & 0o001) !== 0 || (gid === group && (mode & 0o010) !== 0) || uid === user;
  if (isPassable) return;
  // Root's group, and the group of a site's user, have no other members.
  const isOthers = gid !== 0 && gid !== uid && gid !== group;
  if (isOthers && (mode & 0o070) !== 0) throw new Error(`Sites' users can't pass ${folder}. Run: chmod o+x ${folder}`);
  await handle.chown(uid, group);
  await handle.chmod((mode & 0o7700) | 0o010);
}

/**
 * Lets a user with this group pass through the folders above this one, without listing them. Follows no link that is put in
 * the place of one of them meanwhile. For Linux.
 */
export async function letGroupPass(passer: Passer, folder: string): Promise<void> {
  const above = path.dirname(await realpath(folder));
  let opened = await open("/", folderFlags);
  try {
    let reached = "/";
    for (const name of above.split(path.sep).filter((each) => each !== "")) {
      const next = await open(`/proc/self/fd/${opened.fd}/${name}`, folderFlags);
      await opened.close();
      opened = next;
      reached = path.join(reached, name);
      await letPassOne(passer, opened, reached);
    }
  } finally {
    await opened.close();
  }
}

/** Removes links, pipes and sockets from a folder, at any depth. */
export async function removeLinksIn(folder: string): Promise<void> {
  await runCommand("find", [folder, "!", "-type", "f", "!", "-type", "d", "-delete"]);
}
