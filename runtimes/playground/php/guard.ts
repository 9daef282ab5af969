/**
 * Where PHP's connections may go: anywhere but to this host. Decided for addresses, after names have been
 * resolved, and the connection is made to the very address that was judged: a name that resolves to another
 * address a moment later gains nothing.
 */
import { lookup } from "node:dns/promises";
import { BlockList, isIP, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

export interface GuardRules {
  /** Port of this installation's edge: what PHP sends there is handed to the edge itself, marked as PHP's. */
  readonly edgePort: number;
  /** Names that end in it are this installation's sites. */
  readonly siteSuffix: string;
  /** Further addresses that PHP may not reach, `host:port`: a database on another machine. */
  readonly forbidden: readonly string[];
  /** Where WordPress's plugins, themes and updates are: it may be reached wherever it is. Null: nowhere. */
  readonly packageSource: string | null;
  /** Nothing may be reached at all. */
  readonly isOffline: boolean;
  /** Mail servers may be reached. Plugins connect to them directly, and their mail passes no other check. */
  readonly maySendMail: boolean;
}

export type Decision =
  | { readonly to: "edge" }
  | { readonly to: "addresses"; readonly addresses: readonly string[] }
  | { readonly to: "nowhere" };

export interface GuardWorld {
  resolve(name: string): Promise<readonly string[]>;
  ownAddresses(): readonly string[];
}

/** SMTP between servers, with TLS from the start, for programs, and what many use where the others are closed. */
const mailPorts = new Set([25, 465, 587, 2525]);

const resolveMilliseconds = 2000;
const unknownMilliseconds = 30_000;
/** Names that could not be resolved, and until when they are not asked for again. */
const unknownNames = new Map<string, number>();

/**
 * On a machine without the internet a resolver may take many seconds to give up, and WordPress's dashboard asks
 * for several names one after the other. So the answer is awaited briefly, and a failure remembered for a while.
 */
async function resolveName(name: string): Promise<readonly string[]> {
  if ((unknownNames.get(name) ?? 0) > performance.now()) return [];
  const timer = new AbortController();
  const tooLate = delay(resolveMilliseconds, [], { signal: timer.signal }).catch(() => []);
  const found = await Promise.race([lookup(name, { all: true }).catch(() => []), tooLate]);
  timer.abort();
  if (found.length === 0) unknownNames.set(name, performance.now() + unknownMilliseconds);
  return found.map(({ address }) => address);
}

export const realWorld: GuardWorld = {
  resolve: resolveName,
  ownAddresses: () =>
    Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map((address) => address.address)),
};

/** Loopback, "this host", link-local with its metadata services, multicast, reserved. */
const neverOutside: readonly (readonly [network: string, prefix: number, family: "ipv4" | "ipv6"])[] = [
  ["0.0.0.0", 8, "ipv4"],
  ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["224.0.0.0", 3, "ipv4"],
  ["::", 128, "ipv6"],
  ["::1", 128, "ipv6"],
  ["fe80::", 10, "ipv6"],
  ["ff00::", 8, "ipv6"],
];

/** IPv6 networks whose last 32 bits are an IPv4 address that the packet would end up at. */
const embedding = new BlockList();
embedding.addSubnet("::", 96, "ipv6");
embedding.addSubnet("::ffff:0:0", 96, "ipv6");
embedding.addSubnet("64:ff9b::", 96, "ipv6");

/** Eight groups of 16 bits. The address must be valid. */
function groupsOf(address: string): readonly number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [, start = "", a, b, c, d] = dotted ?? [];
  const hex = (high: string | undefined, low: string | undefined) => ((Number(high) << 8) | Number(low)).toString(16);
  const plain = dotted ? `${start}${hex(a, b)}:${hex(c, d)}` : address;
  const [left = "", right] = plain.split("::");
  const parse = (side: string) => (side === "" ? [] : side.split(":").map((group) => Number.parseInt(group, 16)));
  if (right === undefined) return parse(left);
  const [head, tail] = [parse(left), parse(right)];
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

/** The IPv4 address that an IPv6 address stands for, otherwise the address itself. Zone indices are cut off. */
function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/, "");
  if (!isIPv6(bare) || !embedding.check(bare, "ipv6")) return bare;
  const [high = 0, low = 0] = groupsOf(bare).slice(6);
  if (high === 0 && low <= 1) return bare;
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

function thisHost(world: GuardWorld): BlockList {
  const list = new BlockList();
  for (const [network, prefix, family] of neverOutside) list.addSubnet(network, prefix, family);
  for (const own of world.ownAddresses().map(plainAddress)) list.addAddress(own, isIPv6(own) ? "ipv6" : "ipv4");
  return list;
}

async function addressesOf(host: string, world: GuardWorld): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [plainAddress(host)];
  const found = await world.resolve(host).catch(() => []);
  return found.map(plainAddress);
}

async function forbiddenAddresses(port: number, rules: GuardRules, world: GuardWorld): Promise<ReadonlySet<string>> {
  const hosts = rules.forbidden
    .filter((place) => place.endsWith(`:${port}`))
    .map((place) => place.slice(0, place.lastIndexOf(":")).replace(/^\[|\]$/g, ""));
  const found = await Promise.all(hosts.map((host) => addressesOf(host, world)));
  return new Set(found.flat());
}

function isSiteName(host: string, suffix: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return name === "localhost" || name.endsWith(".localhost") || name === suffix || name.endsWith(`.${suffix}`);
}

const usualPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

function isPackageSource(host: string, port: number, { packageSource }: GuardRules): boolean {
  if (packageSource === null || !URL.canParse(packageSource)) return false;
  const url = new URL(packageSource);
  const sourcePort = url.port === "" ? usualPorts[url.protocol] : url.port;
  return url.hostname.replace(/^\[|\]$/g, "") === host.toLowerCase() && sourcePort === String(port);
}

/** `host` is a name or an address. Never rejects: what can't be resolved goes nowhere. */
export async function decide(host: string, port: number, rules: GuardRules, world = realWorld): Promise<Decision> {
  if (rules.isOffline) return { to: "nowhere" };
  if (isPackageSource(host, port, rules)) return { to: "addresses", addresses: await addressesOf(host, world) };
  const edge = port === rules.edgePort ? ({ to: "edge" } as const) : ({ to: "nowhere" } as const);
  if (isSiteName(host, rules.siteSuffix)) return edge;
  const addresses = await addressesOf(host, world);
  const own = thisHost(world);
  const isOwn = (address: string) => own.check(address, isIPv6(address) ? "ipv6" : "ipv4");
  if (addresses.length > 0 && addresses.every(isOwn)) return edge;
  const forbidden = await forbiddenAddresses(port, rules, world);
  if (mailPorts.has(port) && !rules.maySendMail) return { to: "nowhere" };
  const outside = addresses.filter((address) => !isOwn(address) && !forbidden.has(address));
  return outside.length > 0 ? { to: "addresses", addresses: outside } : { to: "nowhere" };
}
