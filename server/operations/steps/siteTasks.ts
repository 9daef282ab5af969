/**
 * What a request has a site's own WordPress do, while somebody waits for the answer. Few at a time, and one for each
 * environment: the request may hold a connection to the database as long as PHP works.
 */
import {
  type EdgeClient,
  EdgeUnavailable,
  type LoginOffer,
  type TaskOrder,
  type TaskResult,
} from "../../clients/edgeClient.ts";

export type { TaskResult };

export interface SiteTasks {
  /** Never rejects because of the edge: where that can't be asked, the reason is `unavailable`. */
  run(order: TaskOrder): Promise<TaskResult>;
  /** False if the environment is not served, or the edge can't be asked. */
  offerLogin(offer: LoginOffer): Promise<boolean>;
}

const mostAtOnce = 4;

const nothing = { status: 0, body: null, errors: "" } as const;

function unlessUnavailable<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof EdgeUnavailable) return instead;
    throw error;
  };
}

export function makeSiteTasks(edge: Pick<EdgeClient, "runTask" | "offerLogin">): SiteTasks {
  const running = new Set<string>();
  return {
    run: async (order) => {
      const { environmentId } = order;
      if (running.has(environmentId) || running.size >= mostAtOnce) return { ...nothing, reason: "busy" };
      running.add(environmentId);
      try {
        return await edge.runTask(order).catch(unlessUnavailable({ ...nothing, reason: "unavailable" }));
      } finally {
        running.delete(environmentId);
      }
    },
    offerLogin: (offer) => edge.offerLogin(offer).catch(unlessUnavailable(false)),
  };
}
