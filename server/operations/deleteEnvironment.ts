/** An environment goes like a site: first out of the visitors' sight, then out of the way, then for good. */
import { removeEnvironmentRows } from "../store/environments.ts";
import { setEnvironmentState } from "../store/routes.ts";
import { type OperationDefinition, StepFailure } from "./operation.ts";
import type { Services } from "./services.ts";

export type DeleteEnvironmentInput = {
  readonly environment: { readonly id: string; readonly number: number };
  readonly isLive: boolean;
};

export function deleteEnvironment({
  database,
  runtime,
  publisher,
}: Services): OperationDefinition<DeleteEnvironmentInput> {
  return {
    kind: "deleteEnvironment",
    steps: [
      {
        name: "allow",
        deadlineSeconds: 5,
        run: async ({ input }) => {
          if (!input.isLive) return;
          throw new StepFailure(
            "The live environment can't be deleted by itself, because a site can't be without one: delete the site instead.",
          );
        },
      },
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
        },
      },
    ],
    pointOfNoReturn: "destroy",
    succeeded: async (transaction, { input }) => {
      await removeEnvironmentRows(transaction, input.environment.id);
      return null;
    },
    // Undone: it is there as before.
    failed: async () => undefined,
  };
}
