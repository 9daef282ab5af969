/** A PHP engine starts the workers of a pool, each for one environment. Several engines can share a pool. */
import { runtimeOf } from "../runtimeNames.ts";
import type { ServedEnvironment } from "../serving.ts";
import type { Member } from "./member.ts";
import type { Worker } from "./worker.ts";

/** Facts about an engine, for people. */
export type Facts = Readonly<Record<string, unknown>>;

export interface Engine<Machinery extends Facts = Facts> {
  /** Starts a worker. Throws if the environment or its release doesn't exist. */
  start(environment: ServedEnvironment, isBackground: boolean): Worker;
  /** Prepares for workers of an environment that is served from now on, or has been tried out. Absent: nothing to prepare. */
  anticipate?(environment: ServedEnvironment): void;
  status(): EngineStatus<Machinery>;
  /** Ends the engine's other processes. The pool's workers have ended. */
  close(): Promise<void>;
}

export interface EngineStatus<Machinery extends Facts = Facts> {
  /** Number of warm workers that have no environment yet. */
  readonly preparedWorkers: number;
  readonly machinery: Machinery;
}

/** Makes an engine, which can look at the workers of the pool. */
export type MakeEngine<Machinery extends Facts = Facts> = (members: () => readonly Member[]) => Engine<Machinery>;

/** The engines of several runtimes as one. `engines` by name of the runtime. */
export function combineEngines(engines: Readonly<Record<string, Engine>>): Engine {
  const byName = new Map(Object.entries(engines));
  const all = [...byName.values()];
  const engineOf = (environment: ServedEnvironment) => byName.get(runtimeOf(environment));

  return {
    start: (environment, isBackground) => {
      const engine = engineOf(environment);
      if (engine === undefined) throw new Error(`There is no runtime ${runtimeOf(environment)} here.`);
      return engine.start(environment, isBackground);
    },
    anticipate: (environment) => engineOf(environment)?.anticipate?.(environment),
    status: () => {
      const statuses = all.map((engine) => engine.status());
      return {
        preparedWorkers: statuses.reduce((sum, { preparedWorkers }) => sum + preparedWorkers, 0),
        machinery: Object.assign({}, ...statuses.map(({ machinery }) => machinery)),
      };
    },
    close: async () => {
      await Promise.all(all.map((engine) => engine.close()));
    },
  };
}

/** An engine that is made when an environment first needs it, because spare workers take memory and processor time. */
export function whenNeeded(make: () => Engine): Engine {
  let made: Engine | null = null;
  const engine = () => {
    made ??= make();
    return made;
  };
  return {
    start: (environment, isBackground) => engine().start(environment, isBackground),
    anticipate: (environment) => engine().anticipate?.(environment),
    status: () => made?.status() ?? { preparedWorkers: 0, machinery: {} },
    close: async () => made?.close(),
  };
}
