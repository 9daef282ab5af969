/**
 * Lets environments move between runtimes that one serving side has: the former runtime finishes the running requests, and new ones
 * wait for that, so the two never serve an environment at the same time.
 */
import { runtimeOf } from "./runtimeNames.ts";
import { NoAnswer, type PhpRequest, type PhpResponse, type ServedEnvironment, type Serving } from "./serving.ts";

/** As long as running writes may take when an environment is frozen: its visitors wait meanwhile. */
const moveSeconds = 20;

/** An environment that is moving to another runtime. */
interface Move {
  /** The environment as the former runtime serves it. Null if that has ended its requests, and its workers are ending. */
  former: ServedEnvironment | null;
  readonly ended: PromiseWithResolvers<void>;
}

interface MoveOptions {
  /** The runtimes that `serving` has. An environment with another one is unavailable. */
  readonly runtimes: readonly string[];
  /** How long the former runtime may take to finish the requests of an environment. */
  readonly moveSeconds?: number;
}

/**
 * Requests that take too long are ended, so that the move goes on. `setEnvironments` does not wait for moves, because that would
 * delay all other environments.
 */
export function withMoves(serving: Serving, options: MoveOptions): Serving {
  const running = createRunning();
  const moves = new Map<string, Move>();
  let served: ReadonlyMap<string, ServedEnvironment> = new Map();

  /** Sets the environments, each as its present runtime serves it. Resolves when no worker of another runtime is left. */
  function setPresent(): Promise<void> {
    const present = [...served.values()].map((environment) => moves.get(environment.id)?.former ?? environment);
    return serving.setEnvironments(present.filter((environment) => options.runtimes.includes(runtimeOf(environment))));
  }

  async function move(former: ServedEnvironment): Promise<void> {
    const { id } = former;
    const started: Move = { former, ended: Promise.withResolvers() };
    moves.set(id, started);
    await running.ended(id, (options.moveSeconds ?? moveSeconds) * 1000);
    if (moves.get(id) !== started) return;
    started.former = null;
    // If the former runtime can't end its processes, the site goes on under the new one: it is no longer served by the former.
    await setPresent().catch(() => undefined);
    if (moves.get(id) === started) endMove(id);
  }

  function endMove(id: string): void {
    moves.get(id)?.ended.resolve();
    moves.delete(id);
  }

  /** Starts and cancels moves, so that `moves` fits the new list. */
  function follow(next: ReadonlyMap<string, ServedEnvironment>): void {
    const moving = new Set(moves.keys());
    for (const [id, { former }] of moves) {
      const now = next.get(id);
      const hasReturned = former !== null && now !== undefined && runtimeOf(now) === runtimeOf(former);
      if (now === undefined || hasReturned) endMove(id);
    }
    for (const [id, before] of served) {
      const now = next.get(id);
      const hasMoved = now !== undefined && runtimeOf(now) !== runtimeOf(before);
      if (hasMoved && !moving.has(id) && running.count(id) > 0) void move(before);
    }
  }

  /** Resolves when a new request may run. PHP's own requests belong to requests of the former runtime. */
  async function ready(id: string, { fromPhp, signal }: PhpRequest): Promise<void> {
    for (let moving = moves.get(id); moving !== undefined; moving = moves.get(id)) {
      if (fromPhp && moving.former !== null) return;
      await moving.ended.promise;
    }
    if (signal.aborted && !fromPhp) throw new NoAnswer("unavailable", "The visitor has disconnected.");
  }

  return {
    ...serving,
    setEnvironments: async (environments) => {
      const next = new Map(environments.map((environment) => [environment.id, environment]));
      follow(next);
      served = next;
      await setPresent();
    },
    handle: async (environmentId, request) => {
      // Without a move, the request counts as running before anything else happens.
      if (moves.has(environmentId)) await ready(environmentId, request);
      return running.run(environmentId, () => serving.handle(environmentId, request));
    },
    runTrial: async (environment, request) => {
      const { id } = environment;
      const now = served.get(id);
      const start = () => serving.runTrial(environment, request);
      if (!options.runtimes.includes(runtimeOf(environment)))
        throw new NoAnswer("unavailable", "This environment is not served here.");
      if (now === undefined || runtimeOf(now) !== runtimeOf(environment)) return start();
      // It may be the served form of the environment, whose requests also wait for the move.
      await moves.get(id)?.ended.promise;
      return running.run(id, start);
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
