/** Starts a rollout's update of an environment: an ordinary update by the user who started the rollout. */
import type { AcceptOperation } from "@sitewright/server/operations/engine/accept.ts";
import { compareVersions } from "@sitewright/server/packages/versions.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { findUpdatable, type UpdatablePackage } from "@sitewright/server/store/packages/packageUpdates.ts";
import type { BegunItem, UnfinishedRollout } from "@sitewright/server/store/packages/rolloutProgress.ts";
import { environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Settings } from "../context.ts";
import { Refused } from "../failures.ts";
import { startUpdate, updateKinds, updateOf } from "./packageUpdateOperation.ts";
import { refusePackage } from "./packageUpdates.ts";

interface RolloutStartOptions {
  readonly settings: Settings;
  readonly acceptOperation: AcceptOperation;
}

/** Returns a function that starts the update of an environment; it is queued if the environment is busy. */
export function makeRolloutStart({ settings, acceptOperation }: RolloutStartOptions) {
  return async (
    transaction: DatabaseTransaction,
    { kind, name, version, actor }: UnfinishedRollout,
    environmentId: string,
  ): Promise<BegunItem | { readonly skipped: string }> => {
    const environment = await environmentForOperation(transaction, environmentId);
    if (environment === null) return { skipped: "The environment no longer exists." };
    const [found] = await findUpdatable(transaction, environmentId, kind, [name]);
    if (found === undefined) return { skipped: `The ${kind} ${name} is not installed.` };
    const to = version ?? found.update_version;
    const problem = problemOf(kind, found, to);
    if (problem !== null || to === null) return { skipped: problem ?? "" };
    const starter = { settings, acceptOperation, actor, whenBusy: "queue" } as const;
    const request = { operation: updateKinds[kind].one, kind, updates: [updateOf(found, to)] };
    const operationId = await startUpdate(starter, transaction, environment, request);
    return { operationId, from: found.version, to };
  };
}

/** Why the package can't be updated in the environment, or null if it can. */
function problemOf(kind: UnfinishedRollout["kind"], found: UpdatablePackage, to: string | null): string | null {
  if (to === null) return `No version of ${found.name} newer than ${found.version} is available.`;
  if (compareVersions(to, found.version) <= 0) return `It has version ${found.version}, and ${to} is not newer.`;
  try {
    refusePackage(kind, found);
    return null;
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}
