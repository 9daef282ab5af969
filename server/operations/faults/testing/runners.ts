/**
 * Runners that execute operations and die.
 *
 * - A process dies by SIGKILL, also during a step. It takes a second to start.
 * - An engine in this process dies between two steps: its connections are terminated, as PostgreSQL does for a process that
 *   is gone, and its work does not continue. It takes some milliseconds to start.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { deathBy } from "../../../testing/faults.ts";
import { type Faults, type FaultyEngine, startFaultyEngine, type ToRunner } from "../../../testing/faultyEngine.ts";
import { makeRuntime } from "../../../testing/services.ts";
import type { World } from "../../../testing/world.ts";

export interface Runner {
  /** Adds a fault. */
  arm(order: ToRunner): Promise<void>;
  /** Resolves when the runner is dead, with whether it died of a fault. */
  readonly died: Promise<boolean>;
  /** Ends the runner. */
  end(): Promise<void>;
}

/** Resolves when the runner is ready. */
export type StartRunner = (world: World, faults?: Faults) => Promise<Runner>;

export const startEngineHere: StartRunner = async (world, faults = {}) => {
  const name = `runner-${randomUUID()}`;
  const databaseUrl = new URL(world.facts.databaseUrl);
  databaseUrl.searchParams.set("application_name", name);
  const known = new Map(Object.entries(faults));
  const died = Promise.withResolvers<boolean>();
  let faulty: FaultyEngine | undefined;
  const kill = async (): Promise<void> => {
    // Otherwise it would reconnect.
    await faulty?.notifications.close();
    // PostgreSQL can also wait for each connection to end, but that takes a tenth of a second each.
    const terminate = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1";
    while ((await world.own.pool.query(terminate, [name])).rowCount !== 0);
    await faulty?.engine.lost;
  };
  const death = deathBy(() => void kill().then(() => died.resolve(true), died.reject));
  const facts = { ...world.facts, databaseUrl: databaseUrl.href };
  faulty = await startFaultyEngine(facts, await makeRuntime(world.runtime), known, death);
  const { stop } = faulty;
  return {
    arm: async ({ operationId, fault }) => void known.set(operationId, fault),
    died: died.promise,
    end: async () => {
      died.resolve(false);
      await stop();
    },
  };
};

export const startProcess: StartRunner = async (world, faults) => {
  const child = startChild(world, faults);
  await childReady(child);
  return {
    arm: (order) => arm(child, order),
    died: once(child, "exit").then(([, signal]) => signal === "SIGKILL"),
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
};

/** Starts a process that runs operations in the world. It may be killed at any time: see `childReady`. */
export function startChild(world: World, faults: Faults = {}): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, "../../../testing/operationsChild.ts")], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: {
      ...process.env,
      WORLD: JSON.stringify(world.facts),
      RUNTIME: JSON.stringify(world.runtime),
      FAULTS: JSON.stringify(faults),
    },
  });
}

/** Resolves when the child runs operations. Throws if it ends before. */
export async function childReady(child: ChildProcess): Promise<void> {
  const first = await Promise.race([once(child, "message"), once(child, "exit").then(() => ["ended"])]);
  if (first[0] === "ended") throw new Error("The child ended before it was ready");
}

async function arm(child: ChildProcess, order: ToRunner): Promise<void> {
  const armed = new Promise<void>((resolve) => {
    const onMessage = (message: unknown) => {
      if (message !== order.operationId) return;
      child.off("message", onMessage);
      resolve();
    };
    child.on("message", onMessage);
  });
  child.send(order);
  await armed;
}
