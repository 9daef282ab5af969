/** A manual backup; the environment stays in service. */

import type { OperationDefinition } from "../engine/operation.ts";
import { backUp, backupRoom, removeBackUp } from "../steps/backup.ts";
import { requireRoom } from "../steps/diskRoom.ts";
import type { Services } from "../steps/services.ts";
import { speculatively } from "../steps/speculatively.ts";

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
        name: "backup",
        deadlineSeconds: 3_600,
        run: async ({ input: { environment, address, note }, operationId, signal }) => {
          const facts = { type: "manual", name: note ?? "Manual backup", note } as const;
          const room = { copies: [await backupRoom(database, environment)] };
          await speculatively(
            // A user waits, and it would double the time of the first step.
            requireRoom(runtime, room, "The backup"),
            (until) => backUp(services, { environment, address, operationId, ...facts }, until),
            signal,
          );
        },
        undo: ({ operationId }) => removeBackUp(services, operationId),
      },
    ],
    succeeded: async () => null,
    failed: async () => undefined,
  };
}
