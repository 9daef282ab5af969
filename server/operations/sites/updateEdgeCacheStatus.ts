/** Turns an environment's page cache on or off. */
import { clearPageCache, setEdgeCaching } from "../../store/traffic/pageCache.ts";
import { type OperationDefinition, StepFailure } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";

export type UpdateEdgeCacheStatusInput = {
  readonly environmentId: string;
  readonly isEnabled: boolean;
  /** The previous setting, or null for the default. */
  readonly before: boolean | null;
};

export function updateEdgeCacheStatus({
  database,
  publisher,
}: Services): OperationDefinition<UpdateEdgeCacheStatusInput> {
  async function set(environmentId: string, isEnabled: boolean | null): Promise<boolean> {
    const exists = await setEdgeCaching(database, environmentId, isEnabled);
    // Pages that were cached before the cache was off may be stale.
    await clearPageCache(database, environmentId);
    await publisher.publish();
    return exists;
  }

  return {
    kind: "updateEdgeCacheStatus",
    steps: [
      {
        name: "switch",
        deadlineSeconds: 30,
        run: async ({ input: { environmentId, isEnabled } }) => {
          if (!(await set(environmentId, isEnabled))) throw new StepFailure("The environment no longer exists.");
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
