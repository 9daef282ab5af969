/**
 * What stands before a deletion: everything is backed up, so that it can be brought back. By then it is out of the visitors'
 * sight and its PHP has ended, so that the backup has all that anybody was told was saved.
 */
import { findPresent } from "../store/environmentStates.ts";
import { backUp, backupRoom, removeBackUp } from "./backup.ts";
import { requireRoom } from "./diskRoom.ts";
import { isTransient, publicReason } from "./failures.ts";
import { type Step, StepFailure } from "./operation.ts";
import type { Services } from "./services.ts";

/** An environment that is about to be deleted, and where it is. */
export type Doomed = { readonly id: string; readonly number: number; readonly address: string };

export interface Deletion {
  readonly environments: readonly Doomed[];
  /** Whether it is deleted for good, and nothing is kept of it. */
  readonly withoutBackup: boolean;
}

const name = "Before the deletion";
const wayOut = 'To delete it all the same, for good and without a backup, send { "without_backup": true }.';

/** Without a backup nothing is deleted: whoever needs no backup is told how to do without. */
async function tellingTheWayOut(
  { operationId, signal }: { readonly operationId: string; readonly signal: AbortSignal },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (signal.aborted) throw error;
    const { text } = publicReason(error, operationId);
    throw new StepFailure(`${text} ${wayOut}`, { cause: error, isTransient: isTransient(error) });
  }
}

/** Two steps: one for before anything else is done, and one for when it is out of sight. */
export function beforeDeletion<Input>(
  services: Services,
  deletionOf: (input: Input) => Deletion,
): readonly [estimate: Step<Input>, backup: Step<Input>] {
  const { database, runtime } = services;

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
        tellingTheWayOut(context, async () => {
          const doomed = await toBackUp(context.input);
          const copies = await Promise.all(doomed.map((environment) => backupRoom(database, environment)));
          await requireRoom(runtime, { copies }, "The backup before the deletion");
        }),
    },
    {
      name: "backup",
      deadlineSeconds: 7_200,
      run: (context) =>
        tellingTheWayOut(context, async () => {
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
