/** Listens on ports and Unix sockets. */
import { chmod, lstat, mkdir, rm } from "node:fs/promises";
import type { Server } from "node:net";
import path from "node:path";

/** Who may connect: only this user, or all users of the machine. */
type SocketAudience = "owner" | "everyone";

/**
 * Listens on a Unix socket. Creates its folder and removes the socket file of a killed edge. Rejects if the folder
 * belongs to another user or is open to more users than `audience`: anyone can create a folder in the system's
 * temporary folder.
 */
export async function listenOnSocket(server: Server, socket: string, audience: SocketAudience): Promise<void> {
  const isPublic = audience === "everyone";
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
    throw new Error(`${folder} belongs to another user, so it can't be trusted. Remove it or choose another folder.`);
  }
  if ((found & ~mode) !== 0) {
    throw new Error(
      `${folder} is open to other users. Restrict it (chmod ${mode.toString(8)}) or choose another folder.`,
    );
  }
  if (found !== mode) await chmod(folder, mode);
}
