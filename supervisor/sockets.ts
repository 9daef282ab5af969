/**
 * The sockets on which children accept connections. This process opens them, or gets them from systemd, and children inherit them: while
 * a child is started again, the system lets new connections wait. This process itself accepts none.
 */
import { lookup } from "node:dns/promises";
import net from "node:net";
import { getSystemErrorName } from "node:util";
import type { InheritedSocket, SocketName } from "@sitewright/server/inheritedSockets.ts";
import type { BoundSocket } from "./systemdSockets.ts";

interface WantedSocket {
  readonly name: SocketName;
  readonly protocol: "tcp" | "udp";
  readonly host: string;
  readonly port: number;
  /**
   * How many times it is inherited. Node accepts one connection of each in a round of its event loop, so that with one alone, everyone
   * would wait behind a flood of connections.
   */
  readonly count?: number;
}

export interface Sockets {
  /** Returns what a child inherits for these names. */
  of(...names: readonly SocketName[]): readonly InheritedSocket[];
  /** Whether the sockets stay open after this process, because they are systemd's. */
  readonly outliveUs: boolean;
  /** Closes this process's own sockets. Those of systemd stay open. */
  close(): void;
}

/**
 * Opens the sockets that systemd has not `given`. UDP sockets are only inherited from systemd: Node can't open one without receiving
 * its packets. Ports must be free.
 */
export async function openSockets(wanted: readonly WantedSocket[], given: readonly BoundSocket[]): Promise<Sockets> {
  const own: OwnSocket[] = [];
  const sockets: InheritedSocket[] = [];
  for (const { name, protocol, host, port, count = 1 } of wanted) {
    const found = given.find((socket) => socket.protocol === protocol && socket.port === port);
    if (found !== undefined) {
      sockets.push(...Array.from({ length: count }, () => ({ name, descriptor: found.descriptor })));
    } else if (protocol === "tcp") {
      const opened = await openSeveral(host, port, process.platform === "linux" ? count : 1);
      own.push(...opened);
      sockets.push(...opened.map(({ descriptor }) => ({ name, descriptor })));
    }
  }
  return {
    of: (...names) => names.flatMap((name) => sockets.filter((socket) => socket.name === name)),
    outliveUs: given.length > 0,
    close: () => {
      for (const { close } of own.splice(0)) close();
    },
  };
}

/** The ports of systemd's sockets that no setting names, for a message. */
export function unusedPorts(wanted: readonly Omit<WantedSocket, "name">[], given: readonly BoundSocket[]): number[] {
  const isWanted = (socket: BoundSocket) =>
    wanted.some(({ protocol, port }) => socket.protocol === protocol && socket.port === port);
  return given.filter((socket) => !isWanted(socket)).map(({ port }) => port);
}

interface OwnSocket {
  readonly descriptor: number;
  close(): void;
}

/** Linux spreads connections over sockets of one port that all allow it. */
async function openSeveral(host: string, port: number, count: number): Promise<readonly OwnSocket[]> {
  const { address, family } = await lookup(host);
  return Array.from({ length: count }, () => openSocket(address, family, port, count > 1));
}

const reusePort = 2;

/**
 * Opens a socket that does not listen yet; the child that inherits it listens. Node's documented ways would make this process accept
 * connections, so this is the one that Node's own clusters use.
 */
function openSocket(address: string, family: number, port: number, isShared: boolean): OwnSocket {
  const create: unknown = Reflect.get(net, "_createServerHandle");
  const handle: unknown =
    typeof create === "function" ? create(address, port, family, null, isShared ? reusePort : 0) : null;
  if (typeof handle === "number") throw cannotOpen(address, port, handle);
  if (!isHandle(handle)) throw new Error("This version of Node can't open sockets for other processes. Use Node 24.");
  // The system's error is only told when the address is asked for.
  const failure = handle.getsockname({});
  if (failure !== 0) throw cannotOpen(address, port, failure);
  return { descriptor: handle.fd, close: () => handle.close() };
}

interface Handle {
  readonly fd: number;
  getsockname(into: object): number;
  close(): void;
}

function isHandle(value: unknown): value is Handle {
  return typeof value === "object" && value !== null && "fd" in value && "getsockname" in value && "close" in value;
}

function cannotOpen(address: string, port: number, code: number): Error {
  return new Error(`Port ${port} of ${address} could not be opened (${getSystemErrorName(code)}). Start again.`);
}
