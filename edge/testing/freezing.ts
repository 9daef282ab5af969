/** Freezing a site as the control process does, and watching what waits for it. */
import { putTable, settle } from "./http.ts";
import { type EdgeWorld, tableOf } from "./withEdge.ts";

type Frozen = Pick<EdgeWorld, "edge" | "environment">;

/** Freezes the site, or thaws it, and waits for what was being written to it. */
export async function freeze({ edge, environment }: Frozen, generation: number, isFrozen = true) {
  const table = tableOf(generation, [{ ...environment, isFrozen }], { "site.localhost": environment.id });
  const answer = await putTable(edge, table);
  if (isFrozen && answer.status === 200) await settle(edge, environment.id);
  return answer;
}

/** A promise, and whether it has settled. */
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
