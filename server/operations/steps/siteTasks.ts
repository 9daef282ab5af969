/**
 * Runs tasks in a site's WordPress while an API request waits: one per environment, and a few in all, for which companies take
 * turns.
 */
import { setDeadline } from "@sitewright/runtimes/deadline.ts";
import { createTurns } from "@sitewright/runtimes/turns.ts";
import {
  type EdgeClient,
  EdgeUnavailable,
  type LoginOffer,
  type TaskOrder,
  type TaskResult,
} from "../../clients/edgeClient.ts";

export type { TaskResult };

export interface SiteTasks {
  /** If the edge can't be reached, resolves with the reason `unavailable`; if others run for too long, with `busy`. */
  run(order: TaskOrder & { readonly companyId: string }): Promise<TaskResult>;
  /** Resolves with false if the environment is not served or the edge can't be reached. */
  offerLogin(offer: LoginOffer): Promise<boolean>;
}

const maxConcurrent = 4;
const maxPerCompany = 2;
/** How long a task waits for others. Clients wait a minute for a response, and a task may take most of it. */
const maxWaitSeconds = 15;

const noAnswer = { status: 0, body: null, errors: "" } as const;

function ifUnavailable<T>(fallback: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof EdgeUnavailable) return fallback;
    throw error;
  };
}

export function makeSiteTasks(
  edge: Pick<EdgeClient, "runTask" | "offerLogin">,
  waitSeconds: number = maxWaitSeconds,
): SiteTasks {
  const environments = createTurns({ total: Number.POSITIVE_INFINITY, perParty: 1 });
  const companies = createTurns({ total: maxConcurrent, perParty: maxPerCompany });

  return {
    run: async ({ companyId, ...order }) => {
      const waiting = new AbortController();
      const cancel = setDeadline(waitSeconds, () => waiting.abort());
      const run = () => {
        cancel();
        return edge.runTask(order).catch(ifUnavailable({ ...noAnswer, reason: "unavailable" }));
      };
      const { signal } = waiting;
      try {
        return await environments.run(order.environmentId, () => companies.run(companyId, run, signal), signal);
      } catch (error) {
        if (signal.aborted) return { ...noAnswer, reason: "busy" };
        throw error;
      } finally {
        cancel();
      }
    },
    offerLogin: (offer) => edge.offerLogin(offer).catch(ifUnavailable(false)),
  };
}
