/**
 * The addresses that PHP gets for names. The library invents private ones, which WordPress refuses to connect to: every image,
 * feed and embed of another server would be refused. PHP gets a name's real address if PHP may reach it, and connects to exactly
 * that address, which is checked again at each connection.
 *
 * Some names get a placeholder instead: names of this installation's sites, names that have only IPv6 addresses, which this PHP
 * can't use, and names that can't be resolved at the moment. Connections to a placeholder lead to its name, so everything is
 * decided then. Placeholders are addresses of public networks that serve nothing but empty answers to reverse lookups (RFC 7535).
 */
import { isIPv4 } from "node:net";
import { isPublic } from "../../publicAddress.ts";
import { type GuardRules, type GuardWorld, realWorld, whereIs } from "./guard.ts";

const placeholderNetworks = ["192.31.196", "192.175.48"];
const lastOfNetwork = 254;
const placeholders = placeholderNetworks.flatMap((network) =>
  Array.from({ length: lastOfNetwork }, (_, index) => `${network}.${index + 1}`),
);

export class HostNames {
  readonly #rules: () => GuardRules | null;
  /** Names by placeholder. The one that was not asked for the longest is first. */
  readonly #names = new Map<string, string>();

  readonly #world: GuardWorld;

  /** `rules` returns null if there is no network. */
  constructor(rules: () => GuardRules | null, world = realWorld) {
    this.#rules = rules;
    this.#world = world;
  }

  /** Returns an IPv4 address, or null if PHP may not reach the host. */
  async addressOf(name: string): Promise<string | null> {
    if (isIPv4(name)) return name;
    if (name.toLowerCase() === "localhost") return "127.0.0.1";
    const rules = this.#rules();
    const address = rules === null || rules.isOffline ? "unknown" : await whereIs(name, rules, this.#world);
    if (address === "nowhere") return null;
    return address === "unknown" ? this.#placeholder(name) : address;
  }

  #placeholder(name: string): string {
    const known = [...this.#names].find(([, other]) => other === name)?.[0];
    const free = placeholders[this.#names.size];
    const [oldest] = this.#names.keys();
    const address = known ?? free ?? oldest ?? "";
    this.#names.delete(address);
    this.#names.set(address, name);
    return address;
  }

  /** Returns what a connection to this address is for: a placeholder's name, or else the address. */
  targetOf(address: string): string {
    return this.#names.get(address) ?? address;
  }

  /** Returns the name of an address, or null if it has none. Private networks are not asked. */
  async nameOf(address: string): Promise<string | null> {
    const rules = this.#rules();
    if (rules === null || rules.isOffline || !isPublic(address)) return null;
    const [name = null] = await this.#world.namesOf(address).catch(() => []);
    return name;
  }
}
