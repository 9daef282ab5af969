/**
 * What stands before a deletion: everything is backed up, so that it can be restored. Visitors go on reading meanwhile, but
 * nothing is written any more, so that the backup has all that anybody was told was saved. It is taken out of their sight
 * only when the backup is there.
 */
import { findPresent } from "../../store/sites/environmentStates.ts";
import type { Step } from "../engine/operation.ts";
import { backUp, backupRoom, removeBackUp, workName } from "./backup.ts";
import { withBypassHint } from "./bypassHint.ts";
import { requireRoom } from "./diskRoom.ts";
import type { Services } from "./services.ts";
import { freeze, thaw } from "./takeOver.ts";

/** An environment that is about to be deleted, and where it is. */
export type Doomed = { readonly id: string; readonly number: number; readonly address: string };

export interface Deletion {
  readonly environments: readonly Doomed[];
  /** Whether it is deleted for good, and nothing is kept of it. */
  readonly withoutBackup: boolean;
}

const name = "Before the deletion";
const bypassHint = 'To delete it all the same, for good and without a backup, send { "without_backup": true }.';

/** Three steps, which stand before everything else that is done. */
export function beforeDeletion<Input>(
  services: Services,
  deletionOf: (input: Input) => Deletion,
): readonly [estimate: Step<Input>, freeze: Step<Input>, backup: Step<Input>] {
  const { database, runtime, archives } = services;

  /**
   * Whatever waited behind another deletion may find nothing left to be done; and what is not on this machine's disk yet
   * has its backups.
   */
  async function toBackUp(input: Input): Promise<readonly Doomed[]> {
    const { environments, withoutBackup } = deletionOf(input);
    if (withoutBackup) return [];
    const present = await findPresent(
      database,
      environments.map(({ id }) => id),
    );
    return environments.filter(({ id }) => present.has(id));
  }

  return [
    {
      name: "estimate",
      deadlineSeconds: 120,
      run: (context) =>
        withBypassHint({ ...context, bypassHint }, async () => {
          const doomed = await toBackUp(context.input);
          const copies = await Promise.all(doomed.map((environment) => backupRoom(database, environment)));
          await requireRoom(runtime, { copies }, "The backup before the deletion");
          if (doomed.length > 0) await archives.requireWritable(workName(context.operationId), context.signal);
        }),
    },
    {
      name: "freeze",
      deadlineSeconds: 120,
      run: async ({ input, signal }) => {
        for (const environment of await toBackUp(input)) await freeze(services, environment, signal);
      },
      undo: async ({ input }) => {
        for (const environment of deletionOf(input).environments) await thaw(services, environment);
      },
    },
    {
      name: "backup",
      deadlineSeconds: 7_200,
      run: (context) =>
        withBypassHint({ ...context, bypassHint }, async () => {
          const { operationId, signal } = context;
          const facts = { operationId, type: "system-generated", name, note: name } as const;
          // One after the other: each has the operation's work folder for itself.
          for (const { address, ...environment } of await toBackUp(context.input)) {
            await backUp(services, { environment, address, ...facts }, signal);
          }
        }),
      undo: ({ operationId }) => removeBackUp(services, operationId),
    },
  ];
}
