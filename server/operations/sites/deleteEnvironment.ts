/** Deletes an environment: backs it up, stops serving it, moves its files aside, and removes them. */
import { forgetEnvironment, keepDeletedEnvironments } from "../../store/backups/deletedEnvironments.ts";
import { removeEnvironmentRows } from "../../store/sites/environments.ts";
import { setEnvironmentState } from "../../store/traffic/routes.ts";
import { type OperationDefinition, StepFailure } from "../engine/operation.ts";
import { beforeDeletion, type EnvironmentToDelete } from "../steps/beforeDeletion.ts";
import { removeDownloads } from "../steps/removeDownloads.ts";
import type { Services } from "../steps/services.ts";

export type DeleteEnvironmentInput = {
  readonly environment: EnvironmentToDelete;
  readonly isLive: boolean;
  /** Whether to delete permanently, including all earlier backups. */
  readonly withoutBackup: boolean;
};

export function deleteEnvironment(services: Services): OperationDefinition<DeleteEnvironmentInput> {
  const { database, runtime, publisher, restorableDays } = services;
  const [estimate, freeze, backup] = beforeDeletion<DeleteEnvironmentInput>(
    services,
    ({ environment, withoutBackup }) => ({
      environments: [environment],
      withoutBackup,
    }),
  );
  return {
    kind: "deleteEnvironment",
    turnFrom: "freeze",
    steps: [
      {
        name: "allow",
        deadlineSeconds: 5,
        run: async ({ input }) => {
          if (!input.isLive) return;
          throw new StepFailure(
            "The live environment can't be deleted alone, because every site needs one. Delete the site instead.",
          );
        },
      },
      estimate,
      freeze,
      backup,
      {
        name: "withdraw",
        deadlineSeconds: 30,
        run: async ({ input }) => {
          await setEnvironmentState(database, [input.environment.id], "deleting");
          await publisher.publish();
        },
        undo: async ({ input }) => {
          await setEnvironmentState(database, [input.environment.id], "serving");
          await publisher.publish();
        },
      },
      {
        name: "retire",
        deadlineSeconds: 60,
        run: ({ input }) => runtime.retire(input.environment),
        undo: ({ input }) => runtime.reinstate(input.environment),
      },
      {
        name: "destroy",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          await runtime.destroy(input.environment);
          await removeDownloads(services, [input.environment.id]);
        },
      },
    ],
    pointOfNoReturn: "destroy",
    succeeded: async (transaction, { input, operationId }) => {
      const { id } = input.environment;
      if (input.withoutBackup) await forgetEnvironment(transaction, id);
      else await keepDeletedEnvironments(transaction, [id], { operationId, restorableDays, wentWithSite: false });
      await removeEnvironmentRows(transaction, id);
      return null;
    },
    // The undos have restored everything.
    failed: async () => undefined,
  };
}
