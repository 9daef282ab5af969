/** Previews a restore: which files it would change, and which rows would be lost. Changes nothing. */
import { findBackup } from "../../store/backups/backups.ts";
import { readResult, saveResult } from "../../store/operations.ts";
import { type OperationDefinition, type StepContext, StepFailure } from "../engine/operation.ts";
import { workName } from "../steps/backup.ts";
import { requireDiskSpace } from "../steps/diskSpace.ts";
import { addressChanges, backupGone, fetchBackup } from "../steps/fetchBackup.ts";
import type { Services } from "../steps/services.ts";
import { stageChangesAsJson } from "../steps/stageChanges.ts";
import { isWanted, partsOf, type RestoreBackupInput } from "./restoreBackup.ts";

export type CompareRestoreInput = Pick<RestoreBackupInput, "backupId" | "target" | "address" | "only" | "some">;

export function compareRestore(services: Services): OperationDefinition<CompareRestoreInput> {
  const { database, runtime, archives } = services;

  async function compare({ input, operationId, signal }: StepContext<CompareRestoreInput>): Promise<void> {
    const { target: environment, address, backupId } = input;
    const backup = await findBackup(database, backupId);
    if (backup === null) throw new StepFailure(backupGone);
    await requireDiskSpace(runtime, { copies: [], moreBytes: backup.bytes }, "The comparison");
    const work = workName(operationId);
    const folder = await fetchBackup(services, { backup, work, isWanted: isWanted(input) }, signal);
    const changes = await runtime.compare({
      environment,
      source: { folder, companyId: backup.companyId },
      addresses: addressChanges(backup, address),
      ...partsOf(input),
    });
    await saveResult(database, operationId, stageChangesAsJson(changes));
    await archives.removeWorkFolder(work);
  }

  return {
    kind: "compareRestore",
    turnFrom: "compare",
    steps: [
      {
        name: "compare",
        deadlineSeconds: 7_200,
        run: compare,
        undo: ({ operationId }) => archives.removeWorkFolder(workName(operationId)),
      },
    ],
    succeeded: (transaction, { operationId }) => readResult(transaction, operationId),
    failed: async () => undefined,
  };
}
