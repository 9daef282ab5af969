/** A backup goes. What only it needed is removed from the archives later, by a reconciler. */
import { removeBackupById } from "../store/backups.ts";
import type { OperationDefinition } from "./operation.ts";
import type { Services } from "./services.ts";

export type RemoveBackupInput = { readonly backupId: number };

export function removeBackup({ database }: Services): OperationDefinition<RemoveBackupInput> {
  return {
    kind: "removeBackup",
    steps: [{ name: "remove", deadlineSeconds: 60, run: ({ input }) => removeBackupById(database, input.backupId) }],
    pointOfNoReturn: "remove",
    succeeded: async () => null,
    failed: async () => undefined,
  };
}
