/** The table that is being served: one value, replaced as a whole. Requests that began with the old one end with it. */
import { createDenied, type IsDenied } from "../denied.ts";
import { createLook, type Look } from "../disk.ts";
import { findHost, indexHosts } from "./hosts.ts";
import type { EdgeEnvironment, EdgeHost, EdgeTable } from "./table.ts";
import { emptyTable } from "./tableFile.ts";

export interface Route {
  readonly environment: EdgeEnvironment;
  readonly look: Look;
  readonly isDenied: IsDenied;
}

export interface Routes {
  /** Null if no site has this name (as `readHost` gives it). */
  find(host: string): Route | null;
  /** Null if this environment is not served. */
  of(environmentId: string): Route | null;
  /** Whether the name, which nothing is served under, is that of a site which will be there again. */
  isAway(host: string): boolean;
  /**
   * Resolves with the generation in force: the given one, or a newer one that was already there. No write to an
   * environment that is frozen in it begins then; those that have begun are another matter (`Writes.settled`).
   * Rejects, and stays at the old generation, where the upstream doesn't take the environments.
   */
  set(table: EdgeTable): Promise<number>;
  table(): EdgeTable;
}

interface Served {
  readonly hosts: ReadonlyMap<string, string>;
  readonly environments: ReadonlyMap<string, Route>;
}

/** PHP, as far as a table concerns it. */
export interface EnvironmentTaker {
  setEnvironments(environments: readonly EdgeEnvironment[]): Promise<void>;
}

/** The writes under way, as far as a table concerns them. */
export interface FreezeTaker {
  /** From now on these are frozen, and no others. */
  freeze(environmentIds: readonly string[]): void;
}

/** `inForce` is told of every table that comes into force. */
export function createRoutes(
  upstream: EnvironmentTaker,
  writes: FreezeTaker,
  inForce: (table: EdgeTable) => void = () => undefined,
): Routes {
  let table = emptyTable;
  let served = serve([], []);
  let away = indexHosts([]);
  let turn: Promise<unknown> = Promise.resolve();

  async function replace(next: EdgeTable): Promise<number> {
    if (next.generation <= table.generation) return table.generation;
    // A write must not reach what was there before: frozen is what is frozen in either, until the next is in force.
    writes.freeze([...frozenIn(table), ...frozenIn(next)]);
    // What goes loses its routes before it is ended; what comes gets them once it can run.
    served = serve(next.environments, remaining(table.hosts, next.hosts));
    await upstream.setEnvironments(next.environments);
    table = next;
    served = serve(next.environments, next.hosts);
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
      const result = turn.then(() => replace(next));
      turn = result.catch(() => undefined);
      return result;
    },
    table: () => table,
  };
}

function frozenIn({ environments }: EdgeTable): readonly string[] {
  return environments.filter(({ isFrozen }) => isFrozen).map(({ id }) => id);
}

function serve(environments: readonly EdgeEnvironment[], hosts: readonly EdgeHost[]): Served {
  return {
    hosts: indexHosts(hosts),
    environments: new Map(environments.map((environment) => [environment.id, routeOf(environment)])),
  };
}

function routeOf(environment: EdgeEnvironment): Route {
  return { environment, look: createLook(environment), isDenied: createDenied(environment.deniedIps ?? []) };
}

function remaining(old: readonly EdgeHost[], next: readonly EdgeHost[]): readonly EdgeHost[] {
  const kept = indexHosts(next);
  return old.filter((host) => kept.get(host.name.toLowerCase()) === host.environmentId);
}
