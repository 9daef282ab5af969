/** Creates a manual backup. The environment stays in service. */
import { findBackupId } from "../../store/backups/backups.ts";
import type { OperationDefinition } from "../engine/operation.ts";
import { backUp, backupSpace, undoBackUp } from "../steps/backup.ts";
import { requireDiskSpace } from "../steps/diskSpace.ts";
import type { EnvironmentInput } from "../steps/environmentInput.ts";
import type { Services } from "../steps/services.ts";
import { speculatively } from "../steps/speculatively.ts";

export type AddManualBackupInput = {
  readonly environment: EnvironmentInput;
  /** The environment's address. */
  readonly address: string;
  /** The user's note about the backup, or null. */
  readonly note: string | null;
};

export function addManualBackup(services: Services): OperationDefinition<AddManualBackupInput> {
  const { database, runtime } = services;
  return {
    kind: "addManualBackup",
    turnFrom: "backup",
    steps: [
      {
        name: "backup",
        deadlineSeconds: 3_600,
        run: async ({ input: { environment, address, note }, operationId, signal }) => {
          const facts = { type: "manual", name: note ?? "Manual backup", note } as const;
          const space = { copies: [await backupSpace(database, environment)] };
          await speculatively(
            // A user is waiting, so the check runs in parallel: done first, it would double the time.
            requireDiskSpace(runtime, space, "The backup"),
            (until) => backUp(services, { environment, address, operationId, ...facts }, until),
            signal,
          );
        },
        undo: ({ operationId }) => undoBackUp(services, operationId),
      },
    ],
    succeeded: async (transaction, { operationId }) => ({ backup_id: await findBackupId(transaction, operationId) }),
    failed: async () => undefined,
  };
}
