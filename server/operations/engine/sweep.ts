/** Which running operations a process has to take up: a decision from rows alone, so that any number of processes may make it. */
import type { RunningOperation } from "../../store/operationRuns.ts";

export interface Sweep {
  /** Unclaimed. */
  readonly unclaimed: string[];
  /** Ours, and not being run: the claim was written, but its confirmation was lost. */
  readonly dropped: string[];
  /** Other runners that have operations. Each must be found dead before its operations are taken over. */
  readonly others: string[];
}

/** `isActive` says whether this process is running an operation at the moment. */
export function planSweep(
  rows: readonly RunningOperation[],
  self: string,
  isActive: (operationId: string) => boolean,
): Sweep {
  const idsOf = (runner: string | null) => rows.filter((row) => row.runner === runner).map((row) => row.id);
  const runners = new Set(rows.flatMap(({ runner }) => (runner === null || runner === self ? [] : [runner])));
  return {
    unclaimed: idsOf(null),
    dropped: idsOf(self).filter((id) => !isActive(id)),
    others: [...runners],
  };
}
