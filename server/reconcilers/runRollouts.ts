/**
 * Runs rollouts: updates of many environments. Each environment is updated by an ordinary operation; a step of the rollout
 * records the results of ended operations or starts the next one. Each step is one transaction, so a process that is killed
 * in the middle has started nothing that is not recorded.
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

interface RunRolloutsOptions {
  readonly database: Database;
  /** Starts the operation for the environment, or returns why it is skipped. */
  readonly begin: (
    transaction: DatabaseTransaction,
    rollout: UnfinishedRollout,
    environmentId: string,
  ) => Promise<BegunItem | { readonly skipped: string }>;
}

/** A failure in one rollout does not stop the others. Rejects at the end if any failed. */
export async function runRollouts(options: RunRolloutsOptions): Promise<void> {
  const errors: Error[] = [];
  for (const id of await listUnfinishedRollouts(options.database)) {
    await advance(id, options).catch((cause: unknown) => {
      errors.push(new Error(`Continuing the rollout ${id} failed`, { cause }));
    });
  }
  if (errors.length > 0) throw new AggregateError(errors, `Rollouts that could not continue: ${errors.length}`);
}

async function advance(id: string, { database, begin }: RunRolloutsOptions): Promise<void> {
  const step = (work: (transaction: DatabaseTransaction, rollout: UnfinishedRollout) => Promise<boolean>) =>
    database.transaction().execute(async (transaction) => {
      const rollout = await lockRollout(transaction, id);
      return rollout !== null && work(transaction, rollout);
    });
  // Separate transactions, and one environment at a time: deleting a site locks several environments in another order, so a
  // step that holds one environment while it waits for another could deadlock.
  const isUnderWay = await step(async (transaction) => {
    await noteEndedItems(transaction, id);
    return true;
  });
  for (let hasNext = isUnderWay; hasNext; ) hasNext = await step((...held) => startNext(...held, begin));
}

/** Returns whether the next step can follow at once. */
async function startNext(
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
  const limit = isCanary ? Math.min(missingCanaries, rollout.concurrency) : rollout.concurrency;
  if (progress.running >= limit) return false;
  await recordItem(transaction, id, {
    environmentId,
    isCanary,
    become: await begin(transaction, rollout, environmentId),
  });
  return true;
}

/** Why no more operations are started, or null. */
function problemOf(rollout: UnfinishedRollout, { failed, failedCanaries }: RolloutProgress): string | null {
  if (failedCanaries > 0) return "Not started, because the update failed in a canary environment.";
  if (failed < rollout.stop_after_failures) return null;
  const times = failed === 1 ? "once" : `${failed} times`;
  return `Not started, because the update failed ${times}.`;
}
