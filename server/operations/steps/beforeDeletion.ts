/**
 * Backs up environments before they are deleted, so that they can be restored. Until the backup is finished, visitors
 * can read the site, but writes are refused, so that the backup contains everything that was saved.
 */
import { filterPresent } from "../../store/sites/environmentStates.ts";
import type { Step } from "../engine/operation.ts";
import { backUp, backupSpace, undoBackUp, workName } from "./backup.ts";
import { withBypassHint } from "./bypassHint.ts";
import { requireDiskSpace } from "./diskSpace.ts";
import type { EnvironmentInput } from "./environmentInput.ts";
import type { Services } from "./services.ts";
import { freeze, thaw } from "./takeOver.ts";

/** An environment that is about to be deleted, with its address. */
export type EnvironmentToDelete = EnvironmentInput & { readonly address: string };

interface Deletion {
  readonly environments: readonly EnvironmentToDelete[];
  /** Whether to delete permanently, without a backup. */
  readonly withoutBackup: boolean;
}

const name = "Before the deletion";
const bypassHint = 'To delete it permanently and without a backup, send { "without_backup": true }.';

/** Returns the first three steps of a deletion. */
export function beforeDeletion<Input>(
  services: Services,
  deletionOf: (input: Input) => Deletion,
): readonly [estimate: Step<Input>, freeze: Step<Input>, backup: Step<Input>] {
  const { database, runtime, archives } = services;

  /**
   * Skips environments that another deletion has removed meanwhile, and those whose files are not on this machine yet:
   * they have backups.
   */
  async function toBackUp(input: Input): Promise<readonly EnvironmentToDelete[]> {
    const { environments, withoutBackup } = deletionOf(input);
    if (withoutBackup) return [];
    const present = await filterPresent(
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
          const environments = await toBackUp(context.input);
          const copies = await Promise.all(environments.map((environment) => backupSpace(database, environment)));
          await requireDiskSpace(runtime, { copies }, "The backup before the deletion");
          if (environments.length > 0) await archives.requireWritable(workName(context.operationId), context.signal);
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
          const facts = { operationId, type: "system-generated", name, note: name, isBeforeDeletion: true } as const;
          // One after the other, because they use the same work folder.
          for (const { address, ...environment } of await toBackUp(context.input)) {
            await backUp(services, { environment, address, ...facts }, signal);
          }
        }),
      undo: ({ operationId }) => undoBackUp(services, operationId),
    },
  ];
}
