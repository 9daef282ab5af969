/**
 * The backup that is made because it is time. It locks nothing, so that nobody is refused for it, or waits: whatever begins
 * beside it goes its own way, and where that replaces or removes what is being backed up, this one fails and is tried again.
 */

import { noteBackupFailed, noteBackupMade, wasDeletionBegun } from "../../store/backups/scheduledBackups.ts";
import { lockHolder } from "../../store/locks.ts";
import { isServing } from "../../store/sites/environmentStates.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { backUp, backupRoom, removeBackUp } from "../steps/backup.ts";
import { requireRoom } from "../steps/diskRoom.ts";
import type { Services } from "../steps/services.ts";

export type AddScheduledBackupInput = {
  readonly environment: { readonly id: string; readonly number: number };
  /** Of the environment. */
  readonly address: string;
  /** It failed before: maybe because everything was read again, which is left for another day. */
  readonly isRetry: boolean;
  /** So many milliseconds after a failure it is tried again; null: not before the next one is due. */
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
      // Its rows and its files go one after the other, and what is missed first is chance.
      if (!(await isServing(database, environment.id))) throw deleted(cause);
      throw cause;
    }
  }

  return {
    kind: "addScheduledBackup",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input: { environment } }) => {
          if ((await lockHolder(database, environment.id)) !== null) {
            throw new StepFailure("Another operation has just begun on the environment.");
          }
          await requireRoom(runtime, { copies: [await backupRoom(database, environment)] }, "The scheduled backup");
        },
      },
      {
        name: "backup",
        // It runs in the background, and the first one, and later ones now and then, read everything.
        deadlineSeconds: 6 * 3_600,
        run: backUpNow,
        undo: ({ operationId }) => removeBackUp(services, operationId),
      },
    ],
    succeeded: async (transaction, { operationId, input }) => {
      // Also one that was given up: the environment's files were away for a moment.
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
