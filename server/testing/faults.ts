/** Wraps operation definitions so that they fail, or kill their runner, at a point that a test chooses. */
import { setTimeout as delay } from "node:timers/promises";
import { type AnyDefinition, type Step, StepFailure } from "../operations/engine/operation.ts";
import type { Json } from "../store/database.ts";

/**
 * For each step: `run provision:before`, `run provision:in` (during the work), `run provision:after` (the work is done but
 * not recorded), and the same for `undo provision`. Inside the transaction that ends the operation: `succeed:before`,
 * `succeed:after`, `fail:before`, `fail:after`.
 */
export type Point = string;

export interface Fault {
  /** The point that throws: every time, or `failTimes` times. */
  readonly failAt?: Point;
  readonly failTimes?: number;
  /** Whether all work is done twice in a row, as after a crash before it was recorded. */
  readonly isRepeated?: boolean;
  /** The point where the runner dies. */
  readonly killAt?: Point;
  /** For a kill `in` a step: the delay from the start of the step. */
  readonly killAfterMilliseconds?: number;
  /**
   * Number of operations that die together: each waits at its point, or before the work during which it is killed,
   * until all have arrived. Absent: 1.
   */
  readonly together?: number;
}

/** Key of the fault for all operations that have no fault of their own. */
export const anyOperation = "*";

const plannedFailure = "This failure is intended.";

/** How a runner dies. */
interface Death {
  /** Resolves when all operations that die together have reached their points. */
  everybody(fault: Fault): Promise<void>;
  /** Never resolves. */
  die(): Promise<never>;
}

/** Creates a death by `kill`, which ends the runner now or soon. */
export function deathBy(kill: () => void): Death {
  let arrived = 0;
  let allArrived = Promise.withResolvers<void>();
  let isDying = false;
  return {
    everybody: ({ together = 1 }) => {
      const { promise, resolve } = allArrived;
      arrived += 1;
      if (arrived < together) return promise;
      arrived = 0;
      allArrived = Promise.withResolvers();
      resolve();
      return promise;
    },
    die: () => {
      if (!isDying) kill();
      isDying = true;
      return new Promise(() => undefined);
    },
  };
}

export const deathOfProcess = deathBy(() => process.kill(process.pid, "SIGKILL"));

/** Returns the current fault of an operation. Called at each point. */
type FaultSource = (operationId: string) => Fault | undefined;

/** Returns the definition with the faults from `source`. */
export function withFaults(definition: AnyDefinition, source: FaultSource, death = deathOfProcess): AnyDefinition {
  const failures = new Map<string, number>();

  async function reach(operationId: string, point: Point): Promise<void> {
    const fault = source(operationId);
    if (fault?.killAt === point) {
      await death.everybody(fault);
      await death.die();
    }
    if (fault?.failAt !== point) return;
    const key = `${operationId} ${point}`;
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    if (count <= (fault.failTimes ?? Number.POSITIVE_INFINITY)) throw new StepFailure(plannedFailure);
  }

  async function around(operationId: string, name: string, work: () => Promise<void>): Promise<void> {
    await reach(operationId, `${name}:before`);
    const fault = source(operationId);
    if (fault?.killAt === `${name}:in`) {
      await death.everybody(fault);
      work().catch(() => undefined);
      await delay(fault.killAfterMilliseconds ?? 0);
      await death.die();
    }
    await work();
    if (fault?.isRepeated) await work();
    await reach(operationId, `${name}:after`);
  }

  function wrap(step: Step<Json>): Step<Json> {
    const undo = step.undo?.bind(step);
    return {
      ...step,
      run: (context) => around(context.operationId, `run ${step.name}`, () => step.run(context)),
      ...(undo && { undo: (context) => around(context.operationId, `undo ${step.name}`, () => undo(context)) }),
    };
  }

  return {
    ...definition,
    steps: definition.steps.map(wrap),
    succeeded: async (transaction, context) => {
      await reach(context.operationId, "succeed:before");
      const result = await definition.succeeded(transaction, context);
      await reach(context.operationId, "succeed:after");
      return result;
    },
    failed: async (transaction, context, failure) => {
      await reach(context.operationId, "fail:before");
      await definition.failed(transaction, context, failure);
      await reach(context.operationId, "fail:after");
    },
  };
}
