/**
 * The sockets on which children accept connections. This process opens them, or gets them from systemd, and children inherit them: while
 * a child is started again, the system lets new connections wait. This process itself accepts none.
 */
import { lookup } from "node:dns/promises";
import net from "node:net";
import { getSystemErrorName } from "node:util";
import type { InheritedSocket, SocketName } from "@sitewright/server/inheritedSockets.ts";
import ipaddr from "ipaddr.js";
import { type BoundSocket, comparable } from "./systemdSockets.ts";

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
  /** Returns the sockets that a child inherits for these names. */
  of(...names: readonly SocketName[]): readonly InheritedSocket[];
  /** Whether visitors' sockets stay open after this process, because they are systemd's. */
  readonly outliveUs: boolean;
  /** Closes this process's own sockets. Those of systemd stay open. */
  close(): void;
}

/**
 * Opens the sockets that systemd has not `given`. UDP sockets are only inherited from systemd: Node can't open one without receiving
 * its packets. Ports must be free. Rejects if systemd has opened a port on an address that the setting does not allow.
 */
export async function openSockets(wanted: readonly WantedSocket[], given: readonly BoundSocket[]): Promise<Sockets> {
  const own: OwnSocket[] = [];
  const sockets: InheritedSocket[] = [];
  const systemds = new Set<SocketName>();
  for (const entry of wanted) await checkAddresses(entry, given);
  for (const entry of wanted) {
    const { name, protocol, host, port, count = 1 } = entry;
    const found = usedOf(entry, given);
    if (found.length > 0) {
      systemds.add(name);
      sockets.push(...found.flatMap(({ descriptor }) => Array.from({ length: count }, () => ({ name, descriptor }))));
    } else if (protocol === "tcp") {
      const opened = await openSeveral(host, port, process.platform === "linux" ? count : 1);
      own.push(...opened);
      sockets.push(...opened.map(({ descriptor }) => ({ name, descriptor })));
    }
  }
  return {
    of: (...names) => names.flatMap((name) => sockets.filter((socket) => socket.name === name)),
    outliveUs: systemds.has("http") && systemds.has("https"),
    close: () => {
      for (const { close } of own.splice(0)) close();
    },
  };
}

type Wanted = Omit<WantedSocket, "name">;

const isFor = ({ protocol, port }: Pick<Wanted, "protocol" | "port">, socket: BoundSocket) =>
  socket.protocol === protocol && socket.port === port;

/** Only those for visitors are used on several addresses: the others' programs listen on one. */
function usedOf(wanted: Wanted, given: readonly BoundSocket[]): readonly BoundSocket[] {
  const found = given.filter((socket) => isFor(wanted, socket));
  return wanted.count === undefined ? found.slice(0, 1) : found;
}

/** Systemd's sockets that no setting needs, for a message. */
export function unusedSockets(wanted: readonly Wanted[], given: readonly BoundSocket[]): readonly BoundSocket[] {
  const used = new Set(wanted.flatMap((entry) => usedOf(entry, given)));
  return given.filter((socket) => !used.has(socket));
}

/** The API of a loopback address must not be published by a socket of another address. */
async function checkAddresses(wanted: WantedSocket, given: readonly BoundSocket[]): Promise<void> {
  const found = given.filter((socket) => isFor(wanted, socket));
  if (found.length === 0) return;
  const allowed = (await lookup(wanted.host, { all: true })).map(({ address }) => comparable(address));
  if (allowed.some(isAny)) return;
  const other = found.find(({ address }) => !allowed.includes(address));
  if (other === undefined) return;
  const { port } = wanted;
  const setting = wanted.name === "api" ? "SITEWRIGHT_API_HOST" : "SITEWRIGHT_HOST";
  throw new Error(
    `systemd has opened port ${port} of ${other.address}, but ${setting} is ${wanted.host}. Change the address in the ` +
      `socket unit to ${wanted.host}, or change the setting, and restart both units.`,
  );
}

const isAny = (address: string) => ipaddr.parse(address).range() === "unspecified";

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
