/** Listening: on a port by UDP and TCP at once, and on a Unix socket that only this user reaches. */
import { createSocket, type Socket, type SocketOptions } from "node:dgram";
import { chmod, lstat, mkdir, rm } from "node:fs/promises";
import type { Server } from "node:http";
import { isIPv6, type ListenOptions, type Server as NetServer } from "node:net";
import path from "node:path";

/** Enough packets for what comes while a large table is being read. */
const receiveBytes = 4 * 1024 * 1024;
const triesForAPort = 20;

/** Not bound yet. Addresses are never names, so nothing is looked up for a packet. */
export function createUdpSocket(host: string): Socket {
  const lookup: SocketOptions["lookup"] = (address, _options, done) => done(null, address, isIPv6(address) ? 6 : 4);
  return createSocket({ type: isIPv6(host) ? "udp6" : "udp4", lookup, recvBufferSize: receiveBytes });
}

/** Rejects with the error of `bind`. */
export function bind(socket: Socket, address: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.bind({ address, port }, () => {
      socket.off("error", reject);
      resolve();
    });
  });
}

/** Rejects with the error of `listen`. */
export function listen(server: NetServer, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/**
 * Returns the socket that has the port by UDP, with `server` on the same by TCP. 0: any that is free for both. Rejects with
 * the error of the system where it can't be had.
 */
export async function listenOnBoth(server: NetServer, host: string, port: number): Promise<Socket> {
  for (let tries = 1; ; tries += 1) {
    const socket = createUdpSocket(host);
    try {
      await bind(socket, host, port);
      await listen(server, { host, port: socket.address().port });
      return socket;
    } catch (error) {
      socket.close();
      const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
      // One that is free by UDP may be taken by TCP; another will do.
      if (port !== 0 || !isTaken || tries === triesForAPort) throw error;
    }
  }
}

/**
 * In a folder that is made if it isn't there. A socket file of a server that was killed goes. Rejects if the folder is
 * somebody else's or open to others: names below the system's temporary folder can be taken by anybody.
 */
export async function listenForOwner(server: Server, socket: string): Promise<void> {
  const folder = path.dirname(socket);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const facts = await lstat(folder);
  if (!facts.isDirectory() || (process.getuid !== undefined && facts.uid !== process.getuid())) {
    throw new Error(`${folder} belongs to somebody else, so it can't be trusted. Remove it, or name another folder.`);
  }
  if ((facts.mode & 0o077) !== 0) {
    throw new Error(`${folder} is open to others, so it can't be trusted. Close it (chmod 700), or name another.`);
  }
  if ((facts.mode & 0o700) !== 0o700) await chmod(folder, 0o700);
  await rm(socket, { force: true });
  await listen(server, { path: socket });
}
