/** Freezes a site like the control process, and watches what waits for that. */
import { putTable, settle } from "./http.ts";
import { type EdgeWorld, tableOf } from "./withEdge.ts";

type Frozen = Pick<EdgeWorld, "edge" | "environment">;

/** Freezes or thaws the site. After a freeze, waits for running requests. */
export async function freeze({ edge, environment }: Frozen, generation: number, isFrozen = true) {
  const table = tableOf(generation, [{ ...environment, isFrozen }], { "site.localhost": environment.id });
  const answer = await putTable(edge, table);
  if (isFrozen && answer.status === 200) await settle(edge, environment.id);
  return answer;
}

/** Tells whether a promise has settled. */
export function watch<T>(promise: Promise<T>): { readonly promise: Promise<T>; isSettled(): boolean } {
  let isSettled = false;
  promise.then(
    () => {
      isSettled = true;
    },
    () => {
      isSettled = true;
    },
  );
  return { promise, isSettled: () => isSettled };
}
