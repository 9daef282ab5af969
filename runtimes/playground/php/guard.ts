/**
 * Decides which connections PHP may open: to the internet, to networks that a setting opens, and through the edge to
 * sites of this installation. Private networks are closed, because services there, such as databases and the metadata
 * services of clouds, often trust every client that can connect. The decision is made for resolved addresses, and the
 * connection goes to exactly the address that was checked, so a name that resolves differently a moment later gains nothing.
 */
import { lookup, reverse } from "node:dns/promises";
import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import ipaddr from "ipaddr.js";
import { isPublic } from "../../publicAddress.ts";

export interface GuardRules {
  /**
   * Port of this installation's edge. PHP's connections to it are passed to the edge directly, marked as coming from
   * PHP.
   */
  readonly edgePort: number;
  /** Host names with this suffix are sites of this installation. */
  readonly siteSuffix: string;
  /** Further addresses that PHP may not reach, `host:port`, such as a database on another machine. */
  readonly forbidden: readonly string[];
  /** Services that PHP may reach only on a public address, `host:port`, such as the object store with the backups. */
  readonly internal: readonly string[];
  /** Networks that PHP may reach although they are not public, such as `10.1.2.0/24`. */
  readonly mayReach: readonly string[];
  /** URL of the package source. PHP may reach it wherever it is. Null: there is none. */
  readonly packageSource: string | null;
  /** Blocks all connections. */
  readonly isOffline: boolean;
  /** Allows connections to mail servers. Plugins connect to them directly, and their mail passes no other check. */
  readonly maySendMail: boolean;
}

export type Decision =
  | { readonly to: "edge" }
  | { readonly to: "addresses"; readonly addresses: readonly string[] }
  | { readonly to: "nowhere" };

export interface GuardWorld {
  resolve(name: string): Promise<readonly string[]>;
  /** Looks up the names of an address. */
  namesOf(address: string): Promise<readonly string[]>;
  ownAddresses(): readonly string[];
}

/** SMTP between servers, SMTP with TLS, submission, and a common alternative. */
const mailPorts = new Set([25, 465, 587, 2525]);

const resolveMilliseconds = 2000;
const unknownMilliseconds = 30_000;
/** Names that could not be resolved, with the time until which they are not looked up again. */
const unknownNames = new Map<string, number>();

/** Returns what a lookup finds, or nothing if it fails or takes too long. */
async function withinResolveTime<Found>(search: Promise<readonly Found[]>): Promise<readonly Found[]> {
  const timer = new AbortController();
  const timeout = delay(resolveMilliseconds, [], { signal: timer.signal }).catch(() => []);
  const found = await Promise.race([search.catch(() => []), timeout]);
  timer.abort();
  return found;
}

/**
 * Resolves a name. On a machine without internet access a resolver may take many seconds to give up, and WordPress's
 * dashboard looks up several names in a row. So the timeout is short, and failures are cached for a while.
 */
async function resolveName(name: string): Promise<readonly string[]> {
  if ((unknownNames.get(name) ?? 0) > performance.now()) return [];
  const found = await withinResolveTime(lookup(name, { all: true }));
  if (found.length === 0) unknownNames.set(name, performance.now() + unknownMilliseconds);
  return found.map(({ address }) => address);
}

export const realWorld: GuardWorld = {
  resolve: resolveName,
  namesOf: (address) => withinResolveTime(reverse(address)),
  ownAddresses: () =>
    Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map((address) => address.address)),
};

/** Loopback and "this host". */
const local: readonly (readonly [network: string, prefix: number, family: "ipv4" | "ipv6"])[] = [
  ["0.0.0.0", 8, "ipv4"],
  ["127.0.0.0", 8, "ipv4"],
  ["::", 128, "ipv6"],
  ["::1", 128, "ipv6"],
];

/** IPv6 networks whose last 32 bits are the IPv4 address that a packet would go to. */
const embedding = new BlockList();
embedding.addSubnet("::", 96, "ipv6");
embedding.addSubnet("::ffff:0:0", 96, "ipv6");
embedding.addSubnet("64:ff9b::", 96, "ipv6");

/** Returns the IPv4 address that an IPv6 address stands for, or else the address itself. Removes zone indices. */
function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/, "");
  if (!isIPv6(bare) || !embedding.check(bare, "ipv6")) return bare;
  const last = ipaddr.parse(bare).toByteArray().slice(-4).join(".");
  return last === "0.0.0.0" || last === "0.0.0.1" ? bare : last;
}

function thisHost(world: GuardWorld): BlockList {
  const list = new BlockList();
  for (const [network, prefix, family] of local) list.addSubnet(network, prefix, family);
  for (const own of world.ownAddresses().map(plainAddress)) list.addAddress(own, isIPv6(own) ? "ipv6" : "ipv4");
  return list;
}

async function addressesOf(host: string, world: GuardWorld): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [plainAddress(host)];
  const found = await world.resolve(host).catch(() => []);
  return found.map(plainAddress);
}

function networksOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

/** Whether PHP may reach an address, at least on some port. */
function reachableBy({ mayReach }: GuardRules): (address: string) => boolean {
  const opened = networksOf(mayReach);
  return (address) => isPublic(address) || isIn(opened, address);
}

/**
 * Returns the IPv4 address that PHP gets for a name; `nowhere` if PHP may reach none of its addresses, and `unknown` if only the
 * connection can tell: for sites of this installation, and if there is no IPv4 address.
 */
export async function whereIs(name: string, rules: GuardRules, world = realWorld): Promise<string> {
  if (isSiteName(name, rules.siteSuffix)) return "unknown";
  const addresses = await addressesOf(name, world);
  const reachable = addresses.filter(reachableBy(rules));
  const usable = reachable.find(isIPv4);
  if (usable !== undefined) return usable;
  if (addresses.length === 0 || reachable.length > 0 || packageSourceOf(rules)?.host === name.toLowerCase())
    return "unknown";
  const own = thisHost(world);
  return addresses.every((address) => isIn(own, address)) ? "127.0.0.1" : "nowhere";
}

/** Addresses of the services, each `host:port`, that use this port. */
async function servicesOn(port: number, services: readonly string[], world: GuardWorld): Promise<ReadonlySet<string>> {
  const hosts = services
    .filter((address) => address.endsWith(`:${port}`))
    .map((address) => address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, ""));
  const found = await Promise.all(hosts.map((host) => addressesOf(host, world)));
  return new Set(found.flat());
}

function isSiteName(host: string, suffix: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  return name === "localhost" || name.endsWith(".localhost") || name === suffix || name.endsWith(`.${suffix}`);
}

const defaultPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

function packageSourceOf({ packageSource }: GuardRules): { readonly host: string; readonly port: string } | null {
  if (packageSource === null || !URL.canParse(packageSource)) return null;
  const { hostname, port, protocol } = new URL(packageSource);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: port || (defaultPorts[protocol] ?? "") };
}

function isPackageSource(host: string, port: number, rules: GuardRules): boolean {
  const source = packageSourceOf(rules);
  return source?.host === host.toLowerCase() && source.port === String(port);
}

/**
 * Decides where a connection may go. `host` is a name or an address. Never rejects: unresolvable names lead nowhere.
 */
export async function decide(host: string, port: number, rules: GuardRules, world = realWorld): Promise<Decision> {
  if (rules.isOffline) return { to: "nowhere" };
  if (isPackageSource(host, port, rules)) return { to: "addresses", addresses: await addressesOf(host, world) };
  const edge = port === rules.edgePort ? ({ to: "edge" } as const) : ({ to: "nowhere" } as const);
  if (isSiteName(host, rules.siteSuffix)) return edge;
  const addresses = await addressesOf(host, world);
  const own = thisHost(world);
  if (addresses.length > 0 && addresses.every((address) => isIn(own, address))) return edge;
  if (mailPorts.has(port) && !rules.maySendMail) return { to: "nowhere" };
  const [forbidden, internal] = await Promise.all(
    [rules.forbidden, rules.internal].map((services) => servicesOn(port, services, world)),
  );
  const mayReach = reachableBy(rules);
  const outside = addresses.filter((address) => {
    if (isIn(own, address) || forbidden?.has(address)) return false;
    return isPublic(address) || (mayReach(address) && !internal?.has(address));
  });
  return outside.length > 0 ? { to: "addresses", addresses: outside } : { to: "nowhere" };
}
