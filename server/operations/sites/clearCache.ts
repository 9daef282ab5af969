/** Cached pages are let go: all of an environment's, or those at one address. */
import { forgetPages } from "../../store/traffic/pageCache.ts";
import { type OperationDefinition, type Step, StepFailure } from "../engine/operation.ts";
import type { Services } from "../steps/services.ts";

export type ClearCacheInput = {
  readonly environmentId: string;
  /** An address or a path; null: all pages. */
  readonly url: string | null;
  /** Whether what lies below is meant, too. */
  readonly isSubtree: boolean;
};

/**
 * All pages: by another number to keep them under, which a crash does not take back, and an edge that starts later learns
 * too. One address: the edge lets go of it, in memory and on the disk, before it answers.
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
      if (!(await forgetPages(database, environmentId)))
        throw new StepFailure("The environment is not there any more.");
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
