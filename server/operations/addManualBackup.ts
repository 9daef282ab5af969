/** A backup that somebody asked for, of an environment that goes on as it is. */
import { backUp, backupRoom, removeBackUp } from "./backup.ts";
import { requireRoom } from "./diskRoom.ts";
import type { OperationDefinition } from "./operation.ts";
import type { Services } from "./services.ts";

export type AddManualBackupInput = {
  readonly environment: { readonly id: string; readonly number: number };
  /** Of the environment. */
  readonly address: string;
  /** What the person wrote about it; null: nothing. */
  readonly note: string | null;
};

export function addManualBackup(services: Services): OperationDefinition<AddManualBackupInput> {
  const { database, runtime } = services;
  return {
    kind: "addManualBackup",
    steps: [
      {
        name: "estimate",
        deadlineSeconds: 120,
        run: async ({ input: { environment } }) =>
          requireRoom(runtime, { copies: [await backupRoom(database, environment)] }, "The backup"),
      },
      {
        name: "backup",
        deadlineSeconds: 3_600,
        run: ({ input: { environment, address, note }, operationId, signal }) => {
          const facts = { type: "manual", name: note ?? "Manual backup", note } as const;
          return backUp(services, { environment, address, operationId, ...facts }, signal);
        },
        undo: ({ operationId }) => removeBackUp(services, operationId),
      },
    ],
    succeeded: async () => null,
    failed: async () => undefined,
  };
}
