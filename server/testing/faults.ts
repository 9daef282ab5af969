/** Makes any definition fail, or its runner die, at a point that a test names. The definition does not know. */
import { setTimeout as delay } from "node:timers/promises";
import { type AnyDefinition, type Step, StepFailure } from "../operations/engine/operation.ts";
import type { Json } from "../store/database.ts";

/**
 * `run provision:before`, `:in` (work under way), `:after` (work done, not recorded), the same of each `undo …`;
 * `succeed:before`, `succeed:after`, `fail:before`, `fail:after` (inside the transaction that ends the operation).
 */
export type Point = string;

export interface Fault {
  /** Where a step, an undo or the end throws; every time, or as often as `failTimes` says. */
  readonly failAt?: Point;
  readonly failTimes?: number;
  /** Whether every piece of work is done a second time right after the first, as after a crash before it was recorded. */
  readonly isRepeated?: boolean;
  /** Where the runner dies. */
  readonly killAt?: Point;
  /** A kill `in` a step comes so long after its beginning. */
  readonly killAfterMilliseconds?: number;
  /**
   * So many operations die together: each waits where it is to be killed, or before it begins the work during which it is,
   * until all of them are there. Absent: one.
   */
  readonly together?: number;
}

/** Stands for every operation that has no fault of its own. */
export const anyOperation = "*";

export const plannedFailure = "This was meant to fail.";

/** How a runner dies. */
export interface Death {
  /** Resolves when as many operations are where they are to be killed as die together. */
  everybody(fault: Fault): Promise<void>;
  /** Nothing that waits for it goes on. */
  die(): Promise<never>;
}

/** `kill` ends the runner, at once or soon. */
export function deathBy(kill: () => void): Death {
  let there = 0;
  let everybodyIsThere = Promise.withResolvers<void>();
  let isDying = false;
  return {
    everybody: ({ together = 1 }) => {
      const { promise, resolve } = everybodyIsThere;
      there += 1;
      if (there < together) return promise;
      there = 0;
      everybodyIsThere = Promise.withResolvers();
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

/** Says what is to go wrong now; asked anew at each point. */
export type FaultSource = (operationId: string) => Fault | undefined;

/** The definition with the faults that `source` names at each moment. */
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
