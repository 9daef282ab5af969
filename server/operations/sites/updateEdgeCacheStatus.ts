/** Pages of an environment are kept at the edge from now on, or not any more. */
import { forgetPages, setEdgeCaching } from "../../store/traffic/pageCache.ts";
import { type OperationDefinition, StepFailure } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";

export type UpdateEdgeCacheStatusInput = {
  readonly environmentId: string;
  readonly isEnabled: boolean;
  /** Null: as is usual for such an environment. */
  readonly before: boolean | null;
};

export function updateEdgeCacheStatus({
  database,
  publisher,
}: Services): OperationDefinition<UpdateEdgeCacheStatusInput> {
  async function set(environmentId: string, isEnabled: boolean | null): Promise<boolean> {
    const isThere = await setEdgeCaching(database, environmentId, isEnabled);
    // What was kept before a pause may have changed in it.
    await forgetPages(database, environmentId);
    await publisher.publish();
    return isThere;
  }

  return {
    kind: "updateEdgeCacheStatus",
    steps: [
      {
        name: "switch",
        deadlineSeconds: 30,
        run: async ({ input: { environmentId, isEnabled } }) => {
          if (!(await set(environmentId, isEnabled))) throw new StepFailure("The environment is not there any more.");
        },
        undo: async ({ input: { environmentId, before } }) => {
          await set(environmentId, before);
        },
      },
    ],
    succeeded: async () => null,
    failed: async () => undefined,
  };
}
