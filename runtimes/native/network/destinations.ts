/** Finds the addresses of resolvers and services, which the rules for PHP name. */
import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Destinations, Endpoint } from "./rules.ts";

export interface Services {
  /** Services that PHP may not reach, `host:port`, such as a database on another machine. */
  readonly forbidden: readonly string[];
  /** Services that PHP may reach only on a public address, `host:port`, such as the object store with the backups. */
  readonly internal: readonly string[];
  /** URL of the package source. PHP may reach it wherever it is. Null: there is none. */
  readonly packageSource: string | null;
}

/** Without internet access, a resolver may take many seconds to give up. */
const resolveMilliseconds = 3_000;

export type Resolve = (name: string) => Promise<readonly string[]>;

/** The machine's resolvers, and the addresses of these services as far as they can be resolved. */
export async function findDestinations(services: Services, resolve: Resolve): Promise<Destinations> {
  const [resolvers, forbidden, internal, packageSource] = await Promise.all([
    findResolvers(),
    endpointsOf(services.forbidden, resolve),
    endpointsOf(services.internal, resolve),
    endpointsOf(packageSourceOf(services), resolve),
  ]);
  return { resolvers, forbidden, internal, packageSource };
}

/**
 * Returns a function that resolves names with the system's resolver. When that fails or takes long, it returns what it found before.
 */
export function rememberingResolver(): Resolve {
  const known = new Map<string, readonly string[]>();
  return async (name) => {
    const timeout = delay(resolveMilliseconds, null, { ref: false });
    const found = await Promise.race([lookup(name, { all: true }).catch(() => null), timeout]);
    const addresses = found?.map(({ address }) => address) ?? known.get(name) ?? [];
    known.set(name, addresses);
    return addresses;
  };
}

/** Without the file, programs ask this machine. */
async function findResolvers(): Promise<readonly string[]> {
  const text = await readFile("/etc/resolv.conf", "utf8").catch(() => "nameserver 127.0.0.1");
  const addresses = [...text.matchAll(/^\s*nameserver\s+([^\s%]+)/gm)].map(([, address = ""]) => address);
  return addresses.filter((address) => isIP(address) !== 0);
}

async function endpointsOf(services: readonly string[], resolve: Resolve): Promise<readonly Endpoint[]> {
  const found = await Promise.all(services.map((service) => endpointsOfOne(service, resolve)));
  return found.flat();
}

async function endpointsOfOne(service: string, resolve: Resolve): Promise<readonly Endpoint[]> {
  const end = service.lastIndexOf(":");
  const host = service.slice(0, end).replace(/^\[|\]$/g, "");
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  return addresses.map((address) => ({ address: address.replace(/%.*$/, ""), port: Number(service.slice(end + 1)) }));
}

function packageSourceOf({ packageSource }: Services): readonly string[] {
  if (packageSource === null || !URL.canParse(packageSource)) return [];
  const { hostname, port, protocol } = new URL(packageSource);
  return [`${hostname}:${port || (protocol === "https:" ? "443" : "80")}`];
}
