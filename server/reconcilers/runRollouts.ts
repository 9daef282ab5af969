/**
 * Goes on with newer versions that go to many environments. What is begun are ordinary operations, one for each
 * environment; a step of this looks what became of them, and begins as many more as there may be. Each step is one transaction:
 * whoever is killed in the middle has begun nothing, and what was begun is written down.
 */
import type { Database, DatabaseTransaction } from "../store/database.ts";
import {
  type BegunItem,
  breakOff,
  endRollout,
  holdRollout,
  nextInTurn,
  noteEndedItems,
  noteTurn,
  progressOf,
  type RolloutProgress,
  type RolloutUnderWay,
  rolloutsUnderWay,
} from "../store/rollouts.ts";

export interface RunRolloutsOptions {
  readonly database: Database;
  /** Begins the operation for the environment, or says why there is nothing to be done. */
  readonly begin: (
    transaction: DatabaseTransaction,
    rollout: RolloutUnderWay,
    environmentId: string,
  ) => Promise<BegunItem | { readonly skipped: string }>;
}

export async function runRollouts(options: RunRolloutsOptions): Promise<void> {
  for (const id of await rolloutsUnderWay(options.database)) {
    // Where all of a turn are skipped, the next ones have theirs at once.
    while (await options.database.transaction().execute((transaction) => goOn(transaction, id, options)));
  }
}

/** Whether the next turn may begin at once. */
async function goOn(transaction: DatabaseTransaction, id: string, { begin }: RunRolloutsOptions): Promise<boolean> {
  const rollout = await holdRollout(transaction, id);
  if (rollout === null) return false;
  await noteEndedItems(transaction, id);
  const progress = await progressOf(transaction, id);
  const problem = problemOf(rollout, progress);
  if (problem !== null && progress.waiting > 0) {
    await breakOff(transaction, id, { state: "stopped", reason: problem });
    return true;
  }
  if (progress.waiting === 0) {
    if (progress.running === 0) await endRollout(transaction, rollout);
    return false;
  }
  const turn = { most: rollout.concurrency - progress.running, onlyCanaries: progress.openCanaries > 0 };
  if (turn.most <= 0) return false;
  const environmentIds = await nextInTurn(transaction, id, turn);
  let isAnyBegun = false;
  for (const environmentId of environmentIds) {
    const become = await begin(transaction, rollout, environmentId);
    await noteTurn(transaction, id, environmentId, become);
    isAnyBegun ||= "operationId" in become;
  }
  return environmentIds.length > 0 && !isAnyBegun;
}

/** Why nothing more is begun; null: nothing is in the way. */
function problemOf(rollout: RolloutUnderWay, { failed, failedCanaries }: RolloutProgress): string | null {
  if (failedCanaries > 0) return "Not begun, because the update had failed where it was tried first.";
  if (failed < rollout.stop_after_failures) return null;
  const times = failed === 1 ? "once" : `${failed} times`;
  return `Not begun, because the update had failed ${times}.`;
}
