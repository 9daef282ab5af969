/**
 * The rules for packets of environments' PHP, as commands for `nft`. Everything is decided by the user of the socket that sends a
 * packet, and for each packet by itself: what the system remembers of earlier connections may be another user's.
 *
 * PHP reaches public addresses, networks that a setting opens, and DNS at this machine's resolvers. Everything else is refused at
 * once, so that no script waits for a timeout.
 *
 * **The way to the edge.** Each environment has a loopback address that no other user reaches. Connections to the edge's public
 * ports, at any address of this machine, are led to a port of the edge at that address: so the edge knows whose PHP it is.
 */
import { isIPv6 } from "node:net";
import { environmentUsers } from "../../owner.ts";
import { privateNetworks } from "../../publicAddress.ts";

/** An address and a port. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** Addresses and networks, which may change while the rules are in force. */
export interface Destinations {
  /** Where PHP may send DNS queries. */
  readonly resolvers: readonly string[];
  /** Closed, also if they are public. */
  readonly forbidden: readonly Endpoint[];
  /** Closed in networks that a setting opens. */
  readonly internal: readonly Endpoint[];
  /** Open, wherever they are. */
  readonly packageSource: readonly Endpoint[];
}

/** What an environment's PHP may do. */
export interface EnvironmentRules {
  readonly number: number;
  readonly maySendMail: boolean;
}

/** A port for visitors, and the port at which the edge waits for PHP that connects to it. */
export interface PhpPort {
  readonly port: number;
  readonly phpPort: number;
}

/** SMTP between servers, SMTP with TLS, submission, and a common alternative. */
export const mailPorts = [25, 465, 587, 2525];

/** The network of environments' addresses: a part of the loopback network that nothing else uses. */
const environmentNetwork = "127.64.0.0/10";
const firstAddress = 0x7f400000;
const lastNumber = 0x3fffff;

/** Returns the loopback address that only this environment's PHP reaches. */
export function addressOf(number: number): string {
  const address = firstAddress + number;
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 0xff).join(".");
}

/** Returns the number of the environment that has this address, or null. */
export function numberAt(address: string): number | null {
  const parts = address.split(".").map(Number);
  const number = parts.reduce((sum, part) => sum * 256 + part, 0) - firstAddress;
  return parts.length === 4 && number > 0 && number <= lastNumber ? number : null;
}

/**
 * Marks allowed packets for the tables that come later, and for other firewalls. Programs need privileges to set it. Of tables with the
 * same priority, the system asks the newest first: so a new process decides, while the table of a killed one is still there.
 */
const allowedMark = "0x73770001";

/**
 * Creates the table with all rules. No environment is known yet, and nothing leads to the edge. It allows packets that an earlier one has
 * allowed. `isSecond`: it comes after the tables of the edge, and decides only while there is none.
 */
export function createTable(
  table: string,
  { mayReach, isSecond }: { readonly mayReach: readonly string[]; readonly isSecond: boolean },
  destinations: Destinations,
): string {
  const { first, last } = environmentUsers();
  const opened = byFamily(mayReach, (network) => network);
  return `table inet ${table} {
  flags owner
  set private4 { type ipv4_addr; flags interval; auto-merge; ${elements(privateNetworks.ipv4)} }
  set private6 { type ipv6_addr; flags interval; auto-merge; ${elements(privateNetworks.ipv6)} }
  set opened4 { type ipv4_addr; flags interval; auto-merge; ${elements(opened.ipv4)} }
  set opened6 { type ipv6_addr; flags interval; auto-merge; ${elements(opened.ipv6)} }
  set resolvers4 { type ipv4_addr; }
  set resolvers6 { type ipv6_addr; }
  set forbidden4 { type ipv4_addr . inet_service; }
  set forbidden6 { type ipv6_addr . inet_service; }
  set internal4 { type ipv4_addr . inet_service; }
  set internal6 { type ipv6_addr . inet_service; }
  set source4 { type ipv4_addr . inet_service; }
  set source6 { type ipv6_addr . inet_service; }
  set mail_senders { type uid; }
  set own { type uid . ipv4_addr; }
  map addresses { type uid : ipv4_addr; }
  set php_ports { type inet_service; }
  chain to_edge { type nat hook output priority -100; policy accept; }
  chain output {
    type filter hook output priority ${isSecond ? -5 : -10}; policy accept;
    meta skuid ${first}-${last} goto php
    fib daddr type local tcp dport @php_ports tcp flags & (syn | ack) == syn goto refuse
  }
  chain input {
    type filter hook input priority 0; policy accept;
    iifname != "lo" tcp dport @php_ports goto refuse
    iifname != "lo" ip daddr ${environmentNetwork} goto refuse
  }
  chain php {
    meta mark ${allowedMark} accept
    tcp flags & (syn | ack) == (syn | ack) goto refuse
    ct direction reply goto refuse
    meta skuid . ip daddr @own tcp dport @php_ports goto allow
    meta l4proto { tcp, udp } th dport 53 ip daddr @resolvers4 goto allow
    meta l4proto { tcp, udp } th dport 53 ip6 daddr @resolvers6 goto allow
    ip daddr . tcp dport @source4 goto allow
    ip6 daddr . tcp dport @source6 goto allow
    fib daddr type != unicast goto refuse
    meta l4proto { tcp, udp } ip daddr . th dport @forbidden4 goto refuse
    meta l4proto { tcp, udp } ip6 daddr . th dport @forbidden6 goto refuse
    tcp dport { ${mailPorts.join(", ")} } meta skuid != @mail_senders goto refuse
    ip daddr != @private4 goto allow
    ip6 daddr != @private6 goto allow
    meta l4proto { tcp, udp } ip daddr . th dport @internal4 goto refuse
    meta l4proto { tcp, udp } ip6 daddr . th dport @internal6 goto refuse
    ip daddr @opened4 goto allow
    ip6 daddr @opened6 goto allow
    goto refuse
  }
  chain allow {
    meta mark set ${allowedMark}
    accept
  }
  chain refuse {
    meta l4proto tcp reject with tcp reset
    reject with icmpx type admin-prohibited
  }
}
${setDestinations(table, destinations)}`;
}

/** Replaces the destinations. */
export function setDestinations(table: string, destinations: Destinations): string {
  const { resolvers, forbidden, internal, packageSource } = destinations;
  const endpoint = ({ address, port }: Endpoint) => `${address} . ${port}`;
  const sets = {
    resolvers: byFamily(resolvers, (address) => address),
    forbidden: byFamily(forbidden, endpoint),
    internal: byFamily(internal, endpoint),
    source: byFamily(packageSource, endpoint),
  };
  return Object.entries(sets)
    .flatMap(([name, { ipv4, ipv6 }]) => [fill(table, `${name}4`, ipv4), fill(table, `${name}6`, ipv6)])
    .join("\n");
}

/** Adds environments. They must not be known yet. */
export function addEnvironments(table: string, environments: readonly EnvironmentRules[]): string {
  return changeEnvironments("add", table, environments);
}

/** Removes environments, with the rules that they were added with. */
export function removeEnvironments(table: string, environments: readonly EnvironmentRules[]): string {
  return changeEnvironments("delete", table, environments);
}

function changeEnvironments(verb: "add" | "delete", table: string, environments: readonly EnvironmentRules[]): string {
  const { first } = environmentUsers();
  const user = ({ number }: EnvironmentRules) => first + number;
  const change = (set: string, list: readonly string[]) =>
    list.length === 0 ? [] : [`${verb} element inet ${table} ${set} { ${list.join(", ")} }`];
  return [
    ...change(
      "addresses",
      environments.map((each) => `${user(each)} : ${addressOf(each.number)}`),
    ),
    ...change(
      "own",
      environments.map((each) => `${user(each)} . ${addressOf(each.number)}`),
    ),
    ...change(
      "mail_senders",
      environments.filter(({ maySendMail }) => maySendMail).map((each) => `${user(each)}`),
    ),
  ].join("\n");
}

/** Leads connections to these ports of this machine to the edge, instead of those of an earlier call. */
export function leadToEdge(table: string, ports: readonly PhpPort[]): string {
  const { first, last } = environmentUsers();
  const rule = ({ port, phpPort }: PhpPort) =>
    `add rule inet ${table} to_edge meta skuid ${first}-${last} fib daddr type local tcp dport ${port} dnat ip to meta skuid map @addresses:${phpPort}`;
  return [
    `flush chain inet ${table} to_edge`,
    fill(
      table,
      "php_ports",
      ports.map(({ phpPort }) => `${phpPort}`),
    ),
    ...ports.map(rule),
  ].join("\n");
}

function fill(table: string, set: string, list: readonly string[]): string {
  const flush = `flush set inet ${table} ${set}`;
  return list.length === 0 ? flush : `${flush}\nadd element inet ${table} ${set} { ${list.join(", ")} }`;
}

function elements(list: readonly string[]): string {
  return list.length === 0 ? "" : `elements = { ${list.join(", ")} };`;
}

/** Sorts addresses, networks or endpoints by their kind of address, as text for nft. */
function byFamily<Item extends string | Endpoint>(list: readonly Item[], write: (item: Item) => string) {
  const isSix = (item: Item) => isIPv6((typeof item === "string" ? item : item.address).replace(/\/\d+$/, ""));
  const written = (isWanted: (item: Item) => boolean) => [...new Set(list.filter(isWanted).map(write))];
  return { ipv4: written((item) => !isSix(item)), ipv6: written(isSix) };
}
