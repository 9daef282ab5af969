/**
 * Goes on with newer versions that go to many environments. What is begun are ordinary operations, one for each
 * environment; a step of this looks what became of them, or begins one more where there may be one. Each step is one transaction:
 * whoever is killed in the middle has begun nothing, and what was begun is written down.
 */
import type { Database, DatabaseTransaction } from "../store/database.ts";
import {
  type BegunItem,
  endRollout,
  listUnfinishedRollouts,
  lockRollout,
  nextEnvironment,
  noteEndedItems,
  progressOf,
  type RolloutProgress,
  recordItem,
  stopRollout,
  type UnfinishedRollout,
} from "../store/packages/rolloutProgress.ts";

export interface RunRolloutsOptions {
  readonly database: Database;
  /** Begins the operation for the environment, or says why there is nothing to be done. */
  readonly begin: (
    transaction: DatabaseTransaction,
    rollout: UnfinishedRollout,
    environmentId: string,
  ) => Promise<BegunItem | { readonly skipped: string }>;
}

/** One that can't go on keeps no other from it. Rejects then, when all have had their turn. */
export async function runRollouts(options: RunRolloutsOptions): Promise<void> {
  const errors: Error[] = [];
  for (const id of await listUnfinishedRollouts(options.database)) {
    await goOn(id, options).catch((cause: unknown) => {
      errors.push(new Error(`The rollout ${id} can't go on`, { cause }));
    });
  }
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} rollouts can't go on`);
}

async function goOn(id: string, { database, begin }: RunRolloutsOptions): Promise<void> {
  const step = (work: (transaction: DatabaseTransaction, rollout: UnfinishedRollout) => Promise<boolean>) =>
    database.transaction().execute(async (transaction) => {
      const rollout = await lockRollout(transaction, id);
      return rollout !== null && work(transaction, rollout);
    });
  // Not together with what follows, and one environment at a time: whoever deletes a site has several environments in its own
  // order, and none of the steps may hold one while it waits for another.
  const isUnderWay = await step(async (transaction) => {
    await noteEndedItems(transaction, id);
    return true;
  });
  for (let isNext = isUnderWay; isNext; ) isNext = await step((...held) => beginNext(...held, begin));
}

/** Whether the next one may start at once. */
async function beginNext(
  transaction: DatabaseTransaction,
  rollout: UnfinishedRollout,
  begin: RunRolloutsOptions["begin"],
): Promise<boolean> {
  const { id } = rollout;
  const progress = await progressOf(transaction, id);
  const problem = problemOf(rollout, progress);
  if (problem !== null && progress.waiting > 0) {
    await stopRollout(transaction, id, { state: "stopped", reason: problem });
    return true;
  }
  const environmentId = await nextEnvironment(transaction, id);
  if (environmentId === null) {
    if (progress.running === 0) await endRollout(transaction, rollout);
    return false;
  }
  // An environment that replaces a skipped or deleted canary is a canary too.
  const missingCanaries = rollout.canaries - progress.updated;
  const isCanary = missingCanaries > 0;
  const most = isCanary ? Math.min(missingCanaries, rollout.concurrency) : rollout.concurrency;
  if (progress.running >= most) return false;
  await recordItem(transaction, id, {
    environmentId,
    isCanary,
    become: await begin(transaction, rollout, environmentId),
  });
  return true;
}

/** Why nothing more is begun; null: nothing is in the way. */
function problemOf(rollout: UnfinishedRollout, { failed, failedCanaries }: RolloutProgress): string | null {
  if (failedCanaries > 0) return "Not begun, because the update had failed where it was tried first.";
  if (failed < rollout.stop_after_failures) return null;
  const times = failed === 1 ? "once" : `${failed} times`;
  return `Not begun, because the update had failed ${times}.`;
}
