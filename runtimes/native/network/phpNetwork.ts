/**
 * The network of native environments' PHP, which runs with the machine's network: `rules.ts` says what it reaches. Only root can set
 * such rules. Without them, environments must be started offline.
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import type { EnvironmentRef } from "../../runtime.ts";
import { findDestinations, rememberingResolver, type Services } from "./destinations.ts";
import { HostFiles, type HostName } from "./hostFiles.ts";
import { NftSession, nftEnvironment } from "./nftSession.ts";
import {
  addEnvironments,
  createTable,
  leadToEdge,
  numberAt,
  type PhpPort,
  removeEnvironments,
  setDestinations,
} from "./rules.ts";

export interface PhpNetworkOptions extends Services {
  /**
   * Whether this process runs PHP beside the edge, such as WP-CLI. Its rules then decide only while the edge's are missing, so that
   * its PHP stays restricted if the edge dies.
   */
  readonly isSecond: boolean;
  /** Networks that PHP may reach although they are not public, such as `10.1.2.0/24`. */
  readonly mayReach: readonly string[];
  /** Folder for files of host names, used for nothing else. */
  readonly hosts: string;
  /**
   * Called when the rules are gone, although the network was not closed: someone has killed `nft`. PHP that runs with the network
   * must be ended at once. `isRestricted` is false from then on.
   */
  readonly onLost: (reason: string) => void;
}

/** The environment whose PHP has opened a connection. */
type Caller = Pick<EnvironmentRef, "id" | "number">;

/** An environment of the installation. */
export interface NetworkedEnvironment extends Caller {
  /** Whether its PHP may connect to mail servers. Absent: false. */
  readonly maySendMail?: boolean;
}

export interface PhpNetwork {
  /** False: environments must be started offline, because nothing would restrict their PHP. */
  readonly isRestricted: boolean;
  /** What to tell the operator at startup: why the network is not restricted, and what to do. Null if it is. */
  readonly problem: string | null;
  /**
   * Replaces the environments. All those of the installation, of other runtimes too: the rules are for all their users. Others reach
   * neither the edge nor mail servers.
   */
  setEnvironments(environments: readonly NetworkedEnvironment[]): Promise<void>;
  /** Leads connections to ports of visitors, at any IPv4 address of this machine, to the edge's ports for PHP. */
  leadToEdge(ports: readonly PhpPort[]): Promise<void>;
  /** Returns the environment whose PHP alone can connect to this address, or null: the local address of a connection. */
  callerAt(localAddress: string): Caller | null;
  /** Replaces all names of all environments: they lead to this machine from within the environment. */
  setHostNames(names: readonly HostName[]): Promise<void>;
  /** Returns the file to mount at `/etc/hosts` in the environment's sandboxes. It is changed in place. */
  hostsFile(environmentId: string): Promise<string>;
  /** Removes the rules. PHP must not run any more. */
  close(): Promise<void>;
}

const run = promisify(execFile);
const refreshMilliseconds = 60_000;
/** How many environments change at once. */
const environmentsAtOnce = 2_000;

const noNetwork = "PHP of native environments gets no network";

/** Never rejects: `problem` says why the rules are not in force. */
export async function createPhpNetwork(options: PhpNetworkOptions): Promise<PhpNetwork> {
  const missing = await problemOf();
  if (missing !== null) return new Network(options, null, `${noNetwork}, because ${missing}`);
  const resolve = rememberingResolver();
  const table = newTableName();
  const session = new NftSession();
  try {
    await session.run(createTable(table, options, await findDestinations(options, resolve)));
    return new Network(options, { table, session, find: () => findDestinations(options, resolve) }, null);
  } catch (error) {
    await session.close();
    return new Network(options, null, describeRefusal(error));
  }
}

function describeRefusal(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  const advice = "It needs Linux 5.12 or newer and, in a container, CAP_NET_ADMIN.";
  return `${noNetwork}, because nft can't restrict it: ${reason.trim()} ${advice}`;
}

/** Returns the `problem` that the network would have, or null. The system checks the rules, and does not put them in force. */
export async function findNetworkProblem({ mayReach }: Pick<PhpNetworkOptions, "mayReach">): Promise<string | null> {
  const missing = await problemOf();
  if (missing !== null) return `${noNetwork}, because ${missing}`;
  const nowhere = { resolvers: [], forbidden: [], internal: [], packageSource: [] };
  const rules = createTable(newTableName(), { mayReach, isSecond: false }, nowhere);
  return run("nft", ["--check", rules], { env: nftEnvironment() }).then(() => null, describeRefusal);
}

async function problemOf(): Promise<string | null> {
  if (process.getuid?.() !== 0) return "only root can restrict it. Start the server as root.";
  const isFound = await run("nft", ["--version"], { env: nftEnvironment() }).then(
    () => true,
    () => false,
  );
  return isFound ? null : "nft, which would restrict it, is missing. Install it: apt-get install nftables";
}

/**
 * Each process has a table of its own, so that a new one does not wait for the end of the table of a server that was killed. Names have
 * at most 32 characters in some versions of the system.
 */
function newTableName(): string {
  return `sitewright_${randomBytes(6).toString("hex")}`;
}

/** Rules that are in force. */
interface Rules {
  readonly table: string;
  readonly session: NftSession;
  readonly find: () => ReturnType<typeof findDestinations>;
}

class Network implements PhpNetwork {
  readonly problem: string | null;
  readonly #hosts: HostFiles;
  #rules: Rules | null;
  readonly #environments = new Map<number, Known>();
  #changes: Promise<unknown> = Promise.resolve();
  #destinations = "";
  #isClosed = false;
  readonly #refreshes: NodeJS.Timeout | null = null;

  constructor({ hosts, onLost }: PhpNetworkOptions, rules: Rules | null, problem: string | null) {
    this.#hosts = new HostFiles(hosts);
    this.#rules = rules;
    this.problem = problem;
    if (rules === null) return;
    this.#refreshes = setInterval(() => void this.#refresh(rules), refreshMilliseconds).unref();
    void rules.session.ended.then((reason) => {
      this.#rules = null;
      if (!this.#isClosed) onLost(reason);
    });
  }

  get isRestricted(): boolean {
    return this.#rules !== null;
  }

  setEnvironments(environments: readonly NetworkedEnvironment[]): Promise<void> {
    return this.#inOrder(async () => {
      for (const change of changesTo(this.#environments, environments)) await this.#change(change);
      await this.#hosts.retain(new Set(environments.map(({ id }) => id)));
    });
  }

  leadToEdge(ports: readonly PhpPort[]): Promise<void> {
    return this.#inOrder(() => this.#run((table) => leadToEdge(table, ports)));
  }

  callerAt(localAddress: string): Caller | null {
    const number = numberAt(localAddress);
    const found = number === null || this.#rules === null ? undefined : this.#environments.get(number);
    return found === undefined ? null : { id: found.id, number: found.number };
  }

  setHostNames(names: readonly HostName[]): Promise<void> {
    return this.#hosts.setNames(names);
  }

  hostsFile(environmentId: string): Promise<string> {
    return this.#hosts.fileOf(environmentId);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#refreshes !== null) clearInterval(this.#refreshes);
    await this.#rules?.session.close();
  }

  /** Services and resolvers may have other addresses now. */
  async #refresh({ find }: Rules): Promise<void> {
    const destinations = await find();
    const text = JSON.stringify(destinations);
    if (text === this.#destinations) return;
    this.#destinations = text;
    // If nft has ended, `onLost` tells.
    await this.#inOrder(() => this.#run((table) => setDestinations(table, destinations))).catch(() => undefined);
  }

  /** As one change, so that no open connection of an environment is refused meanwhile. */
  async #change(changes: readonly Change[]): Promise<void> {
    const removed = changes.flatMap(({ before }) => before ?? []);
    const added = changes.flatMap(({ after }) => after ?? []);
    await this.#run((table) => `${removeEnvironments(table, removed)}\n${addEnvironments(table, added)}`);
    for (const { number } of removed) this.#environments.delete(number);
    for (const each of added) this.#environments.set(each.number, each);
  }

  async #run(write: (table: string) => string): Promise<void> {
    if (this.#rules !== null) await this.#rules.session.run(write(this.#rules.table));
  }

  #inOrder<Result>(change: () => Promise<Result>): Promise<Result> {
    const result = this.#changes.then(change);
    this.#changes = result.catch(() => undefined);
    return result;
  }
}

type Known = Required<NetworkedEnvironment>;

interface Change {
  readonly before: Known | null;
  readonly after: Known | null;
}

/** What has to change, in parts that nft gets at once. */
function changesTo(
  known: ReadonlyMap<number, Known>,
  environments: readonly NetworkedEnvironment[],
): readonly (readonly Change[])[] {
  const next = new Map(
    environments.map(({ id, number, maySendMail = false }) => [number, { id, number, maySendMail }]),
  );
  const changes = [...new Set([...known.keys(), ...next.keys()])]
    .map((number) => ({ before: known.get(number) ?? null, after: next.get(number) ?? null }))
    .filter(({ before, after }) => before?.id !== after?.id || before?.maySendMail !== after?.maySendMail);
  const parts = Math.ceil(changes.length / environmentsAtOnce);
  return Array.from({ length: parts }, (_, part) =>
    changes.slice(part * environmentsAtOnce, (part + 1) * environmentsAtOnce),
  );
}
