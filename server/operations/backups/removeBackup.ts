/**
 * Removes a backup in the transaction that ends the operation. A reconciler later removes its data from the archives.
 */
import { findBackup, removeBackupById } from "../../store/backups/backups.ts";
import { type OperationDefinition, StepFailure } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";

export type RemoveBackupInput = { readonly backupId: number };

export function removeBackup({ database }: Services): OperationDefinition<RemoveBackupInput> {
  return {
    kind: "removeBackup",
    steps: [
      {
        name: "find",
        deadlineSeconds: 60,
        run: async ({ input }) => {
          if ((await findBackup(database, input.backupId)) !== null) return;
          throw new StepFailure("The backup no longer exists.");
        },
      },
    ],
    succeeded: async (transaction, { input }) => {
      await removeBackupById(transaction, input.backupId);
      return null;
    },
    failed: async () => undefined,
  };
}
