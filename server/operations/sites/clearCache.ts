/** Clears an environment's page cache, or purges the pages of one URL. */
import { clearPageCache } from "../../store/traffic/pageCache.ts";
import { type OperationDefinition, type Step, StepFailure } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";

export type ClearCacheInput = {
  readonly environmentId: string;
  /** A URL or a path, or null for all pages. */
  readonly url: string | null;
  /** Whether to include all pages below the URL. */
  readonly isSubtree: boolean;
};

/**
 * Clears all pages by changing the version of the environment's cache, which survives a crash and also reaches an edge
 * that starts later. Purges one URL at the edge, from memory and disk, before the step ends.
 */
function clearing(services: Services): Step<ClearCacheInput> {
  const { database, publisher, purge } = services;
  return {
    name: "clear",
    deadlineSeconds: 30,
    run: async ({ input: { environmentId, url, isSubtree }, signal }) => {
      if (url !== null) {
        await purge({ environmentId, urls: [url], subtrees: isSubtree ? [url] : [] }, signal);
        return;
      }
      if (!(await clearPageCache(database, environmentId))) throw new StepFailure("The environment no longer exists.");
      await publisher.publish();
    },
  };
}

export function clearCache(services: Services): OperationDefinition<ClearCacheInput> {
  return define("clearCache", services);
}

export function clearEdgeCache(services: Services): OperationDefinition<ClearCacheInput> {
  return define("clearEdgeCache", services);
}

function define(kind: "clearCache" | "clearEdgeCache", services: Services): OperationDefinition<ClearCacheInput> {
  return { kind, steps: [clearing(services)], succeeded: async () => null, failed: async () => undefined };
}
