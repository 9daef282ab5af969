/** Makes any definition fail, or its process die, at a point that a test names. The definition does not know. */
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
  /** Where the process kills itself with SIGKILL. */
  readonly killAt?: Point;
  /** A kill `in` a step comes so long after its beginning. */
  readonly killAfterMilliseconds?: number;
  /**
   * So many operations are killed by one SIGKILL: each waits where it is to be killed, or before it begins the work amid
   * which it is, until all of them are there. Absent: one.
   */
  readonly together?: number;
}

/** Stands for every operation that has no fault of its own. */
export const anyOperation = "*";

export const plannedFailure = "This was meant to fail.";

let there = 0;
let everybodyIsThere = Promise.withResolvers<void>();

/** Resolves when as many operations are where they are to be killed as are killed together. */
export function everybody({ together = 1 }: Fault): Promise<void> {
  const { promise, resolve } = everybodyIsThere;
  there += 1;
  if (there < together) return promise;
  there = 0;
  everybodyIsThere = Promise.withResolvers();
  resolve();
  return promise;
}

/** Says what is to go wrong now; asked anew at each point. */
export type FaultSource = (operationId: string) => Fault | undefined;

/** The definition with the faults that `source` names at each moment. */
export function withFaults(definition: AnyDefinition, source: FaultSource): AnyDefinition {
  const failures = new Map<string, number>();

  async function reach(operationId: string, point: Point): Promise<void> {
    const fault = source(operationId);
    if (fault?.killAt === point) {
      await everybody(fault);
      process.kill(process.pid, "SIGKILL");
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
      await everybody(fault);
      work().catch(() => undefined);
      await delay(fault.killAfterMilliseconds ?? 0);
      process.kill(process.pid, "SIGKILL");
    }
    await work();
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
