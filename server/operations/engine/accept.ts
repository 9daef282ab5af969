/**
 * Accepting an operation: one row, its activity entry and its locks, in the caller's transaction.
 * The commit of that transaction starts the operation; a rollback leaves nothing.
 */
import { randomUUID } from "node:crypto";
import {
  environmentAwayMessage,
  environmentBusyMessage,
  environmentLostMessage,
  type OperationKind,
  operationKinds,
} from "@sitewright/contract/operationKinds.ts";
import type { Sealer } from "../../sealing.ts";
import { recordActivity } from "../../store/company/activity.ts";
import type { Actor, Blocker, DatabaseTransaction, Json } from "../../store/database.ts";
import { findBlockers, takeLocks, wantLocks } from "../../store/locks.ts";
import { areAwaitingRebuild, haveLost } from "../../store/moved.ts";
import { announceAccepted, endOperation, insertOperation, setOperationState } from "../../store/operations.ts";

export interface OperationRequest {
  readonly kind: OperationKind;
  readonly companyId: string;
  readonly siteId: string | null;
  readonly environmentId: string | null;
  /** Ids of the environments that nothing else may change meanwhile. */
  readonly locks: readonly string[];
  /** All that the steps need, ids included. Nothing secret: it is stored as it is. */
  readonly input: Json;
  /** Sealed before it is stored, and erased when the operation ends. */
  readonly secret?: string;
  /** What happens when one of the environments is busy: the operation fails at once, or waits its turn. */
  readonly whenBusy: "fail" | "queue";
  readonly actor: Actor;
  /** Display names for the activity entry. */
  readonly activityParameters: Readonly<Record<string, string>>;
}

/**
 * Accepts an operation as part of `transaction` and returns its id. It begins when the transaction commits; where
 * an environment is busy it waits, or has failed already (`isRefused`): then no step and no ending of it will ever run.
 * It has failed, too, where nothing of an environment is on this machine yet.
 * Rejects only when the database does.
 */
export type AcceptOperation = (
  transaction: DatabaseTransaction,
  request: OperationRequest,
) => Promise<AcceptedOperation>;

export interface AcceptedOperation {
  readonly operationId: string;
  readonly isRefused: boolean;
  /** The operations because of which it has failed; empty if it has not, or for another reason. */
  readonly blockedBy: readonly Blocker[];
}

export interface AcceptServices {
  readonly sealer: Sealer;
  /** Only the number of steps is read, for the progress that is shown. */
  readonly definitions: Readonly<Record<OperationKind, { readonly steps: readonly unknown[] }>>;
}

/** Nothing of the environment need be on this machine for these. */
const worksOnWhatIsAway: ReadonlySet<OperationKind> = new Set<OperationKind>([
  "rebuildEnvironment",
  "deleteSite",
  "deleteEnvironment",
  "removeBackup",
]);

export function makeAcceptOperation(services: AcceptServices): AcceptOperation {
  return async (transaction, request) => {
    const { prefix, category } = operationKinds[request.kind];
    const operationId = `${prefix}${randomUUID()}`;
    const { kind, companyId, siteId, environmentId, input, actor } = request;
    const activityId = await recordActivity(transaction, {
      companyId,
      siteId,
      category,
      type: kind,
      parameters: request.activityParameters,
      actor,
    });
    await insertOperation(transaction, {
      id: operationId,
      kind,
      companyId,
      siteId,
      environmentId,
      activityId,
      state: "running",
      stepsTotal: services.definitions[kind].steps.length,
      input,
      secret: request.secret === undefined ? null : services.sealer.seal(request.secret, operationId),
      referenceId: randomUUID(),
    });
    if (!worksOnWhatIsAway.has(kind) && (await areAwaitingRebuild(transaction, request.locks))) {
      const isLost = await haveLost(transaction, request.locks);
      const publicError = isLost ? environmentLostMessage : environmentAwayMessage;
      await endOperation(transaction, operationId, { state: "failed", publicError });
      return { operationId, isRefused: true, blockedBy: [] };
    }
    if (await takeLocks(transaction, operationId, request.locks)) {
      await announceAccepted(transaction, operationId);
      return { operationId, isRefused: false, blockedBy: [] };
    }
    if (request.whenBusy === "queue") {
      await setOperationState(transaction, operationId, "waiting");
      await wantLocks(transaction, operationId, request.locks);
      return { operationId, isRefused: false, blockedBy: [] };
    }
    const blockedBy = await findBlockers(transaction, request.locks);
    await endOperation(transaction, operationId, { state: "failed", publicError: environmentBusyMessage, blockedBy });
    return { operationId, isRefused: true, blockedBy };
  };
}
