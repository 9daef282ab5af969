/**
 * Deletes a site with all its environments: backs them up, stops serving them, moves their files aside, and removes
 * them.
 */
import { forgetSite, keepDeletedSite } from "../../store/backups/deletedSites.ts";
import { removeSiteRows, setSiteState } from "../../store/sites/siteStates.ts";
import { setEnvironmentState } from "../../store/traffic/routes.ts";
import type { OperationDefinition } from "../engine/operation.ts";
import { beforeDeletion, type EnvironmentToDelete } from "../steps/beforeDeletion.ts";
import { removeDownloads } from "../steps/removeDownloads.ts";
import type { Services } from "../steps/services.ts";

export type DeleteSiteInput = {
  readonly siteId: string;
  readonly environments: readonly EnvironmentToDelete[];
  /** Whether to delete permanently, including all earlier backups. */
  readonly withoutBackup: boolean;
};

export function deleteSite(services: Services): OperationDefinition<DeleteSiteInput> {
  const { database, runtime, publisher, restorableDays } = services;
  const ids = ({ environments }: DeleteSiteInput) => environments.map(({ id }) => id);
  const [estimate, freeze, backup] = beforeDeletion<DeleteSiteInput>(services, (input) => input);
  return {
    kind: "deleteSite",
    turnFrom: "freeze",
    steps: [
      estimate,
      freeze,
      backup,
      {
        name: "withdraw",
        deadlineSeconds: 30,
        run: async ({ input }) => {
          await setSiteState(database, input.siteId, "deleting");
          await setEnvironmentState(database, ids(input), "deleting");
          await publisher.publish();
        },
        undo: async ({ input }) => {
          await setEnvironmentState(database, ids(input), "serving");
          await setSiteState(database, input.siteId, "live");
          await publisher.publish();
        },
      },
      {
        name: "retire",
        deadlineSeconds: 60,
        run: async ({ input }) => {
          for (const environment of input.environments) await runtime.retire(environment);
        },
        undo: async ({ input }) => {
          for (const environment of input.environments) await runtime.reinstate(environment);
        },
      },
      {
        name: "destroy",
        deadlineSeconds: 120,
        run: async ({ input }) => {
          for (const environment of input.environments) await runtime.destroy(environment);
          await removeDownloads(services, ids(input));
        },
      },
    ],
    pointOfNoReturn: "destroy",
    succeeded: async (transaction, { input, operationId }) => {
      const { siteId, withoutBackup } = input;
      if (withoutBackup) await forgetSite(transaction, siteId);
      else await keepDeletedSite(transaction, siteId, { operationId, restorableDays });
      await removeSiteRows(transaction, siteId);
      return null;
    },
    // The undos have restored everything.
    failed: async () => undefined,
  };
}
