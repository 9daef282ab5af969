/** Decides which running operations a process should claim, from database rows only. */
import type { RunningOperation } from "../../store/operationRuns.ts";

interface Sweep {
  /** Operations without a runner. */
  readonly unclaimed: string[];
  /** Operations of this runner that it is not running: the claim was written, but its confirmation was lost. */
  readonly dropped: string[];
  /** Other runners with operations. Take over their operations only if the runner is dead. */
  readonly others: string[];
}

/** `isActive` tells whether this process is running an operation. */
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
