/** A site goes with all its environments: first out of the visitors' sight, then out of the way, then for good. */
import { setEnvironmentState } from "../store/routes.ts";
import { removeSiteRows, setSiteState } from "../store/siteStates.ts";
import type { OperationDefinition } from "./operation.ts";
import type { Services } from "./services.ts";

export type DeleteSiteInput = {
  readonly siteId: string;
  readonly environments: readonly { readonly id: string; readonly number: number }[];
};

export function deleteSite({ database, runtime, publisher }: Services): OperationDefinition<DeleteSiteInput> {
  const ids = ({ environments }: DeleteSiteInput) => environments.map(({ id }) => id);
  return {
    kind: "deleteSite",
    steps: [
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
        },
      },
    ],
    pointOfNoReturn: "destroy",
    succeeded: async (transaction, { input }) => {
      await removeSiteRows(transaction, input.siteId);
      return null;
    },
    // Undone: the site is there as before.
    failed: async () => undefined,
  };
}
