/** Listens on ports and Unix sockets. */
import { chmod, chown, lstat, mkdir, rm } from "node:fs/promises";
import type { Server } from "node:net";
import path from "node:path";

/**
 * Listens on a Unix socket. Only this user, and members of `group` unless it is null, may connect. Creates the socket's
 * folder and removes the socket file of a killed edge. Rejects if the folder belongs to another user or is open to
 * others: anyone can create a folder in the system's temporary folder.
 */
export async function listenOnSocket(server: Server, socket: string, group: number | null): Promise<void> {
  const folder = path.dirname(socket);
  await ownFolder(folder);
  await rm(socket, { force: true });
  await listen(server, { path: socket });
  await chmod(socket, 0o600);
  if (group === null) return;
  await allowGroup(socket, group, 0o660);
  // Members can use paths in the folder, but not list it.
  await allowGroup(folder, group, 0o710);
}

async function allowGroup(file: string, group: number, mode: number): Promise<void> {
  await chown(file, (await lstat(file)).uid, group);
  await chmod(file, mode);
}

/** Rejects with the error of `listen`. `waiting`: how many connections may wait to be accepted. */
export function listen(server: Server, where: Parameters<Server["listen"]>[0], waiting?: number): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, waiting, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function ownFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const facts = await lstat(folder);
  const found = facts.mode & 0o777;
  if (!facts.isDirectory() || (process.getuid !== undefined && facts.uid !== process.getuid())) {
    throw new Error(`${folder} belongs to another user, so it can't be trusted. Remove it or choose another folder.`);
  }
  // Passing through is harmless, and earlier versions allowed it.
  if ((found & ~0o711) !== 0) {
    throw new Error(`${folder} is open to other users. Restrict it (chmod 700) or choose another folder.`);
  }
  if (found !== 0o700) await chmod(folder, 0o700);
}
