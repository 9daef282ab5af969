/** Folders for sockets, and listening in them. */
import { chmod, lstat, mkdir, rm } from "node:fs/promises";
import type { Server } from "node:net";
import path from "node:path";

/** Who may connect: this user alone, or every user of this machine. */
export type SocketAudience = "owner" | "everybody";

/**
 * Listens on a Unix socket, in a folder that is made if it isn't there. A socket file that an edge left behind when
 * it was killed is in the way and of no use, and goes. Rejects if the folder is somebody else's or open to more
 * than `audience`: names below the system's temporary folder can be taken by anybody.
 */
export async function listenOnSocket(server: Server, socket: string, audience: SocketAudience): Promise<void> {
  const isPublic = audience === "everybody";
  await ownFolder(path.dirname(socket), isPublic ? 0o711 : 0o700);
  await rm(socket, { force: true });
  await listen(server, { path: socket, readableAll: isPublic, writableAll: isPublic });
}

/** Rejects with the error of `listen`. */
export function listen(server: Server, where: Parameters<Server["listen"]>[0]): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function ownFolder(folder: string, mode: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode });
  const facts = await lstat(folder);
  const found = facts.mode & 0o777;
  if (!facts.isDirectory() || (process.getuid !== undefined && facts.uid !== process.getuid())) {
    throw new Error(`${folder} belongs to somebody else, so it can't be trusted. Remove it, or name another folder.`);
  }
  if ((found & ~mode) !== 0) {
    throw new Error(
      `${folder} is open to others, so it can't be trusted. Close it (chmod ${mode.toString(8)}), or name another.`,
    );
  }
  if (found !== mode) await chmod(folder, mode);
}
