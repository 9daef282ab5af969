/**
 * Accepts an operation: inserts its row, its activity entry and its locks in the caller's transaction.
 * The commit of that transaction starts the operation; a rollback leaves nothing behind.
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
import { announceAccepted, endOperation, insertOperation, setOperationState } from "../../store/operations.ts";
import { areAwaitingRebuild, isAnyWithoutBackup } from "../../store/restoredInstallation.ts";

export interface OperationRequest {
  readonly kind: OperationKind;
  readonly companyId: string;
  readonly siteId: string | null;
  readonly environmentId: string | null;
  /** Ids of the environments that no other operation may change at the same time. */
  readonly locks: readonly string[];
  /** Everything that the steps need, including new ids. Must not contain secrets: it is stored unencrypted. */
  readonly input: Json;
  /** Encrypted before it is stored, and erased when the operation ends. */
  readonly secret?: string;
  /** If one of the environments is busy, the operation either fails at once or waits in the queue. */
  readonly whenBusy: "fail" | "queue";
  readonly actor: Actor;
  /** Display names for the activity entry. */
  readonly activityParameters: Readonly<Record<string, string>>;
}

/**
 * Accepts an operation as part of `transaction` and returns its id. The operation starts when the transaction commits.
 * If an environment is busy, it waits or fails at once, see `whenBusy`. It also fails at once if an environment's files
 * are not on this machine yet. An operation that failed at once (`isRefused`) never runs a step or its `failed`
 * function. Rejects only if the database fails.
 */
export type AcceptOperation = (
  transaction: DatabaseTransaction,
  request: OperationRequest,
) => Promise<AcceptedOperation>;

export interface AcceptedOperation {
  readonly operationId: string;
  readonly isRefused: boolean;
  /** The operations that hold the locks. Empty unless the operation failed because of them. */
  readonly blockedBy: readonly Blocker[];
}

interface AcceptServices {
  readonly sealer: Sealer;
  /** Used for the number of steps, which the progress report shows. */
  readonly definitions: Readonly<Record<OperationKind, { readonly steps: readonly unknown[] }>>;
}

/** Operations that can run before an environment's files are on this machine. */
const allowedWhileAway: ReadonlySet<OperationKind> = new Set<OperationKind>([
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
    if (!allowedWhileAway.has(kind) && (await areAwaitingRebuild(transaction, request.locks))) {
      const isLost = await isAnyWithoutBackup(transaction, request.locks);
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
