/** Listens on a port for UDP and TCP, and on a Unix socket that only this user can reach. */
import { type BindOptions, createSocket, type Socket, type SocketOptions } from "node:dgram";
import { chmod, lstat, mkdir, rm } from "node:fs/promises";
import type { Server } from "node:http";
import { isIPv6, type Server as NetServer } from "node:net";
import path from "node:path";

/** Large enough for the packets that arrive while a large table is being read. */
const receiveBytes = 4 * 1024 * 1024;
const maxPortAttempts = 20;

/**
 * Creates a socket that is not bound yet. Its lookup never resolves names, because it is only used with IP addresses.
 */
export function createUdpSocket(host: string): Socket {
  const lookup: SocketOptions["lookup"] = (address, _options, done) => done(null, address, isIPv6(address) ? 6 : 4);
  return createSocket({ type: isIPv6(host) ? "udp6" : "udp4", lookup, recvBufferSize: receiveBytes });
}

/** Rejects with the error of `bind`. */
export function bind(socket: Socket, address: string, port: number): Promise<void> {
  return bindTo(socket, { address, port });
}

function bindTo(socket: Socket, where: BindOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(where, () => {
      socket.off("error", reject);
      resolve();
    });
  });
}

/** Rejects with the error of `listen`. */
function listen(server: NetServer, where: Parameters<NetServer["listen"]>[0]): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Descriptors of sockets that the process has inherited. */
export interface InheritedPort {
  readonly udp?: number | undefined;
  readonly tcp?: number | undefined;
}

/**
 * Opens a port for UDP, and for TCP with `server`, unless they are inherited. Returns the UDP socket. Port 0: any that is free for
 * both. Rejects with the system's error if the port can't be opened.
 */
export async function listenOnBoth(
  server: NetServer,
  host: string,
  port: number,
  { udp, tcp }: InheritedPort = {},
): Promise<Socket> {
  for (let tries = 1; ; tries += 1) {
    const socket = createUdpSocket(host);
    try {
      await bindTo(socket, udp === undefined ? { address: host, port } : { fd: udp });
      await listen(server, tcp === undefined ? { host, port: socket.address().port } : { fd: tcp });
      return socket;
    } catch (error) {
      socket.close();
      const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
      // A port that is free for UDP may be in use for TCP. Try another one.
      if (port !== 0 || !isTaken || tries === maxPortAttempts) throw error;
    }
  }
}

/**
 * Listens on a Unix socket. Creates its folder and removes the socket file of a killed server. Rejects if the folder
 * belongs to another user or is open to others: anyone can create a folder in the system's temporary folder.
 */
export async function listenForOwner(server: Server, socket: string): Promise<void> {
  const folder = path.dirname(socket);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const facts = await lstat(folder);
  if (!facts.isDirectory() || (process.getuid !== undefined && facts.uid !== process.getuid())) {
    throw new Error(`${folder} belongs to another user, so it can't be trusted. Remove it or choose another folder.`);
  }
  if ((facts.mode & 0o077) !== 0) {
    throw new Error(`${folder} is open to other users. Restrict it (chmod 700) or choose another folder.`);
  }
  if ((facts.mode & 0o700) !== 0o700) await chmod(folder, 0o700);
  await rm(socket, { force: true });
  await listen(server, { path: socket });
}
