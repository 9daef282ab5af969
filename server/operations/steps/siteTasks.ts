/**
 * Runs tasks in a site's WordPress while an API request waits. Only a few run at a time, and one per environment,
 * because the request may hold a database connection until PHP is done.
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
  /** If the edge can't be reached, resolves with the reason `unavailable`; if too many tasks run, with `busy`. */
  run(order: TaskOrder): Promise<TaskResult>;
  /** Resolves with false if the environment is not served or the edge can't be reached. */
  offerLogin(offer: LoginOffer): Promise<boolean>;
}

const maxConcurrent = 4;

const noAnswer = { status: 0, body: null, errors: "" } as const;

function ifUnavailable<T>(fallback: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof EdgeUnavailable) return fallback;
    throw error;
  };
}

export function makeSiteTasks(edge: Pick<EdgeClient, "runTask" | "offerLogin">): SiteTasks {
  const running = new Set<string>();
  return {
    run: async (order) => {
      const { environmentId } = order;
      if (running.has(environmentId) || running.size >= maxConcurrent) return { ...noAnswer, reason: "busy" };
      running.add(environmentId);
      try {
        return await edge.runTask(order).catch(ifUnavailable({ ...noAnswer, reason: "unavailable" }));
      } finally {
        running.delete(environmentId);
      }
    },
    offerLogin: (offer) => edge.offerLogin(offer).catch(ifUnavailable(false)),
  };
}
