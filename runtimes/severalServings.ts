/** The serving sides of several runtimes as one: each request goes to the runtime of its environment. */
import { firstRuntime } from "./runtimeNames.ts";
import {
  type EnvironmentUsage,
  NoAnswer,
  type PhpRequest,
  type PhpResponse,
  type ServedEnvironment,
  type Serving,
} from "./serving.ts";

/** The usage of one environment under two runtimes, because it moved from one to the other. */
function sumOf(one: EnvironmentUsage, other: EnvironmentUsage): EnvironmentUsage {
  return {
    environmentId: one.environmentId,
    phpRequests: one.phpRequests + other.phpRequests,
    phpMilliseconds: one.phpMilliseconds + other.phpMilliseconds,
    cpuMilliseconds: one.cpuMilliseconds + other.cpuMilliseconds,
    killedForTime: one.killedForTime + other.killedForTime,
    killedForMemory: one.killedForMemory + other.killedForMemory,
    refusedBusy: one.refusedBusy + other.refusedBusy,
    writes: one.writes + other.writes,
    recentCores: one.recentCores + other.recentCores,
  };
}

const nameOf = ({ runtime = firstRuntime }: ServedEnvironment) => runtime;

/** As long as running writes may take when an environment is frozen: its visitors wait meanwhile. */
const moveSeconds = 20;

/** An environment that is moving to another runtime. */
interface Move {
  /** The environment as the former runtime serves it. Null if that has ended its requests, and its processes. */
  former: ServedEnvironment | null;
  readonly ended: PromiseWithResolvers<void>;
}

interface CombineOptions {
  /** How long the former runtime may take to finish the requests of an environment that moves to another one. */
  readonly moveSeconds?: number;
}

/**
 * `servings` by name of the runtime. An environment whose runtime is not among them is unavailable.
 *
 * When an environment moves to another runtime, the former one finishes the running requests, and new ones wait for that: the two
 * never serve it at the same time. Requests that take too long are ended. `setEnvironments` does not wait, because
 * that would delay all other environments.
 */
export function combineServings(servings: Readonly<Record<string, Serving>>, options: CombineOptions = {}): Serving {
  const byName = new Map(Object.entries(servings));
  const all = [...byName.values()];
  const running = createRunning();
  const moves = new Map<string, Move>();
  let served: ReadonlyMap<string, ServedEnvironment> = new Map();

  function servingNamed(name: string | undefined): Serving {
    const found = name === undefined ? undefined : byName.get(name);
    if (found === undefined) throw new NoAnswer("unavailable", "This environment is not served here.");
    return found;
  }

  function servingOf(environment: ServedEnvironment | null | undefined): Serving {
    return servingNamed(environment ? nameOf(environment) : undefined);
  }

  /** Gives a runtime its environments, among them those that it has not left yet. */
  function setAgain(name: string, serving: Serving): Promise<void> {
    const leaving = [...moves.values()].flatMap(({ former }) => former ?? []);
    return serving.setEnvironments([...served.values(), ...leaving].filter((each) => nameOf(each) === name));
  }

  function move(former: ServedEnvironment): void {
    const { id } = former;
    const started: Move = { former, ended: Promise.withResolvers() };
    const isCurrent = () => moves.get(id) === started;
    const work = async () => {
      await running.ended(id, (options.moveSeconds ?? moveSeconds) * 1000);
      if (!isCurrent()) return;
      started.former = null;
      await setAgain(nameOf(former), servingOf(former));
    };
    const end = () => {
      if (isCurrent()) stopWaiting(id);
    };
    moves.set(id, started);
    // If the former runtime can't end its processes, the site goes on under the new one: it is no longer served by the former.
    work().then(end, end);
  }

  function stopWaiting(id: string): void {
    moves.get(id)?.ended.resolve();
    moves.delete(id);
  }

  /** Starts and cancels moves, so that `moves` fits the new list. */
  function follow(next: ReadonlyMap<string, ServedEnvironment>): void {
    const moving = new Set(moves.keys());
    for (const [id, { former }] of moves) {
      const now = next.get(id);
      const hasReturned = former !== null && now !== undefined && nameOf(now) === nameOf(former);
      if (now === undefined || hasReturned) stopWaiting(id);
    }
    for (const [id, before] of served) {
      const now = next.get(id);
      const hasMoved = now !== undefined && nameOf(now) !== nameOf(before) && byName.has(nameOf(before));
      if (hasMoved && !moving.has(id) && running.count(id) > 0) move(before);
    }
  }

  /** Resolves with the serving side for a new request. PHP's own requests belong to requests of the former runtime. */
  async function ready(id: string, { fromPhp, signal }: PhpRequest): Promise<Serving> {
    for (let moving = moves.get(id); moving !== undefined; moving = moves.get(id)) {
      if (fromPhp && moving.former !== null) return servingOf(moving.former);
      await moving.ended.promise;
    }
    if (signal.aborted && !fromPhp) throw new NoAnswer("unavailable", "The visitor has disconnected.");
    return servingOf(served.get(id));
  }

  return {
    setEnvironments: async (environments) => {
      const next = new Map(environments.map((environment) => [environment.id, environment]));
      follow(next);
      served = next;
      await Promise.all([...byName].map(([name, serving]) => setAgain(name, serving)));
    },
    handle: async (environmentId, request) => {
      // Without a move, the request counts as running before anything else happens.
      const serving = moves.has(environmentId)
        ? await ready(environmentId, request)
        : servingOf(served.get(environmentId));
      return running.run(environmentId, () => serving.handle(environmentId, request));
    },
    runTrial: async (environment, request) => {
      const { id } = environment;
      const now = served.get(id);
      const start = () => servingOf(environment).runTrial(environment, request);
      if (now === undefined || nameOf(now) !== nameOf(environment)) return start();
      // It may be the served form of the environment, whose requests also wait for the move.
      await moves.get(id)?.ended.promise;
      return running.run(id, start);
    },
    usage: () => {
      const usages = Map.groupBy(
        all.flatMap((serving) => serving.usage()),
        ({ environmentId }) => environmentId,
      );
      return [...usages.values()].map((each) => each.reduce(sumOf));
    },
    close: async () => {
      await Promise.all(all.map((serving) => serving.close()));
    },
  };
}

/** The running requests of each environment. */
interface Running {
  count(environmentId: string): number;
  /** Runs a request, which ends when PHP has finished it. */
  run(environmentId: string, handle: () => Promise<PhpResponse>): Promise<PhpResponse>;
  /** Resolves when no request of the environment is running, or after this time. */
  ended(environmentId: string, milliseconds: number): Promise<void>;
}

function createRunning(): Running {
  const counts = new Map<string, number>();
  const waiting = new Map<string, PromiseWithResolvers<void>>();

  function end(id: string): void {
    const left = (counts.get(id) ?? 1) - 1;
    if (left > 0) {
      counts.set(id, left);
      return;
    }
    counts.delete(id);
    waiting.get(id)?.resolve();
    waiting.delete(id);
  }

  return {
    count: (id) => counts.get(id) ?? 0,
    run: async (id, handle) => {
      counts.set(id, (counts.get(id) ?? 0) + 1);
      try {
        const response = await handle();
        void response.finished.then(() => end(id));
        return response;
      } catch (error) {
        end(id);
        throw error;
      }
    },
    ended: async (id, milliseconds) => {
      if (!counts.has(id)) return;
      const none = waiting.get(id) ?? Promise.withResolvers<void>();
      waiting.set(id, none);
      const timeout = Promise.withResolvers<void>();
      const timer = setTimeout(timeout.resolve, milliseconds);
      await Promise.race([none.promise, timeout.promise]);
      clearTimeout(timer);
    },
  };
}
