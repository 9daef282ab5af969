/** When answers are asked for again, and what happens when the session has ended. */
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiFailure } from "./failure.ts";
import { sessionKey } from "./session.ts";

/** Reads wait for an API that is restarting. Changes are never repeated: the first attempt may have arrived. */
const retry = (_count: number, error: Error) => error instanceof ApiFailure && error.isTemporary;

/** Milliseconds. */
const retryDelay = (count: number, error: Error) =>
  (error instanceof ApiFailure && error.retryAfter !== null ? error.retryAfter : Math.min(1 + count, 5)) * 1000;

/** Codes for which the session has to do something else first. */
const restrictions = ["password_change_required", "second_factor_required"];

/** A call that the session does not allow makes the console look at the session again. */
function look(error: Error): void {
  if (!(error instanceof ApiFailure)) return;
  const isEnded = error.status === 401 || restrictions.includes(error.code ?? "");
  if (isEnded) void queryClient.invalidateQueries({ queryKey: sessionKey });
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: look }),
  mutationCache: new MutationCache({ onError: look }),
  // Calls are also made while the browser takes itself for offline: it may be wrong, and a failure is shown.
  defaultOptions: {
    queries: { retry, retryDelay, staleTime: 5_000, networkMode: "always" },
    mutations: { networkMode: "always" },
  },
});
