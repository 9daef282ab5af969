/**
 * Creates a scheduled backup. It takes no locks, so it never delays or blocks another operation. If another operation
 * replaces or removes the environment at the same time, this one fails and is retried later.
 */
import { noteBackupFailed, noteBackupMade, wasDeletionBegun } from "../../store/backups/scheduledBackups.ts";
import { lockHolder } from "../../store/locks.ts";
import { isServing } from "../../store/sites/environmentStates.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { backUp, backupSpace, undoBackUp } from "../steps/backup.ts";
import { requireDiskSpace } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import type { Services } from "../steps/services.ts";

export type AddScheduledBackupInput = {
  readonly environment: EnvironmentInput;
  /** The environment's address. */
  readonly address: string;
  /** Whether the previous try failed. Then no full read is done, because that may have been the reason. */
  readonly isRetry: boolean;
  /** Milliseconds until the retry after a failure, or null to wait for the next scheduled backup. */
  readonly againAfter: number | null;
};

export function addScheduledBackup(services: Services): OperationDefinition<AddScheduledBackupInput> {
  const { database, runtime, fullBackupDays } = services;

  async function backUpNow({ input, operationId, signal }: StepContext<AddScheduledBackupInput>): Promise<void> {
    const { environment, address, isRetry } = input;
    const facts = { type: "scheduled", name: "Scheduled backup", note: null } as const;
    const reading = isRetry ? {} : { fullAfterDays: fullBackupDays };
    try {
      await backUp(services, { environment, address, operationId, ...facts, ...reading }, signal);
    } catch (cause) {
      // A deletion causes various errors, depending on what it has removed already. Report them all as a deletion.
      if (!(await isServing(database, environment.id))) throw deleted(cause);
      throw cause;
    }
  }

  return {
    kind: "addScheduledBackup",
    turnFrom: "backup",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input: { environment } }) => {
          if ((await lockHolder(database, environment.id)) !== null) {
            throw new StepFailure("Another operation on the environment has just started.");
          }
          await requireDiskSpace(
            runtime,
            { copies: [await backupSpace(database, environment)] },
            "The scheduled backup",
          );
        },
      },
      {
        name: "backup",
        // Long, because it runs in the background and some backups read all files.
        deadlineSeconds: 6 * 3_600,
        run: backUpNow,
        undo: ({ operationId }) => undoBackUp(services, operationId),
      },
    ],
    succeeded: async (transaction, { operationId, input }) => {
      // This includes deletions that were undone: the environment's files were moved aside for a moment.
      if (await wasDeletionBegun(transaction, operationId)) throw deleted();
      await noteBackupMade(transaction, input.environment.id);
      return null;
    },
    failed: async (transaction, { input: { environment, againAfter } }) => {
      const againAt = againAfter === null ? null : new Date(Date.now() + againAfter);
      await noteBackupFailed(transaction, environment.id, againAt);
    },
  };
}

function deleted(cause?: unknown): StepFailure {
  return new StepFailure("The environment was being deleted while it was backed up.", { cause });
}
