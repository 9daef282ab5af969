/**
 * The table in force, which is always replaced as a whole. Running requests finish with the table they started with.
 */
import { createBlocklist, type IsBlocked } from "./blockedIps.ts";
import { createFileLookup, type LookUp } from "./fileLookup.ts";
import { findHost, indexHosts } from "./hosts.ts";
import type { EdgeEnvironment, EdgeHost, EdgeTable } from "./table.ts";
import { emptyTable } from "./tableFile.ts";

export interface Route {
  readonly environment: EdgeEnvironment;
  readonly lookUp: LookUp;
  readonly isBlocked: IsBlocked;
}

export interface Routes {
  /** The route for a name returned by `readHost`, or null if no site has it. */
  find(host: string): Route | null;
  /** The route of an environment, or null if it is not served. */
  of(environmentId: string): Route | null;
  /** Whether the name belongs to a site that is not served yet, because it is still being restored. */
  isAway(host: string): boolean;
  /**
   * Puts a table in force and resolves with the generation in force: the given one, or a newer one that was there
   * already. From then on no write starts in environments that the table freezes; `Writes.settled` waits for running
   * ones. Rejects, and keeps the old table, if the upstream rejects the environments.
   */
  set(table: EdgeTable): Promise<number>;
  table(): EdgeTable;
}

interface TableIndex {
  readonly hosts: ReadonlyMap<string, string>;
  readonly environments: ReadonlyMap<string, Route>;
}

/** The part of `Upstream` that a table concerns. */
interface EnvironmentSetter {
  setEnvironments(environments: readonly EdgeEnvironment[]): Promise<void>;
}

/** The part of `Writes` that a table concerns. */
interface Freezer {
  /** Freezes these environments and thaws all others. */
  freeze(environmentIds: readonly string[]): void;
}

/** `inForce` is called with each table that comes into force. */
export function createRoutes(
  upstream: EnvironmentSetter,
  writes: Freezer,
  inForce: (table: EdgeTable) => void = () => undefined,
): Routes {
  let table = emptyTable;
  let served: TableIndex = { environments: new Map(), hosts: new Map() };
  let away = indexHosts([]);
  let lastUpdate: Promise<unknown> = Promise.resolve();

  async function replace(next: EdgeTable): Promise<number> {
    if (next.generation <= table.generation) return table.generation;
    // While switching, both tables' frozen environments stay frozen, so that no write reaches an old release.
    writes.freeze([...frozenIn(table), ...frozenIn(next)]);
    // Old environments lose their routes before their PHP stops; new ones get routes once they can run.
    const environments = indexEnvironments(next.environments);
    served = { environments, hosts: indexHosts(remaining(table.hosts, next.hosts)) };
    await upstream.setEnvironments(next.environments);
    table = next;
    served = { environments, hosts: indexHosts(next.hosts) };
    away = indexHosts((next.away ?? []).map((name) => ({ name, environmentId: name })));
    inForce(next);
    writes.freeze(frozenIn(next));
    return next.generation;
  }

  return {
    find(host) {
      const id = findHost(served.hosts, host);
      return id === null ? null : (served.environments.get(id) ?? null);
    },
    of: (environmentId) => served.environments.get(environmentId) ?? null,
    isAway: (host) => findHost(away, host) !== null,
    set(next) {
      const result = lastUpdate.then(() => replace(next));
      lastUpdate = result.catch(() => undefined);
      return result;
    },
    table: () => table,
  };
}

function frozenIn({ environments }: EdgeTable): readonly string[] {
  return environments.filter(({ isFrozen }) => isFrozen).map(({ id }) => id);
}

function indexEnvironments(environments: readonly EdgeEnvironment[]): TableIndex["environments"] {
  return new Map(environments.map((environment) => [environment.id, routeOf(environment)]));
}

function routeOf(environment: EdgeEnvironment): Route {
  return {
    environment,
    lookUp: createFileLookup(environment),
    isBlocked: createBlocklist(environment.deniedIps ?? []),
  };
}

function remaining(old: readonly EdgeHost[], next: readonly EdgeHost[]): readonly EdgeHost[] {
  const kept = indexHosts(next);
  return old.filter((host) => kept.get(host.name.toLowerCase()) === host.environmentId);
}
