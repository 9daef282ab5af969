/** The recorded outcomes of an operation's parts. A recorded part never runs again. */
import type { Database, OperationOutcome } from "../../store/database.ts";
import { readOutcomes, recordOutcome } from "../../store/operationRuns.ts";

/** `ended`: stop here, because the operation has ended or another process has taken it over. */
export type Outcome = OperationOutcome | "ended";

export interface Journal {
  /** Returns the recorded outcome of the part with this name. If there is none, runs `work` and records its outcome. */
  record(part: string, work: () => Promise<Outcome>): Promise<Outcome>;
}

interface JournalOptions {
  readonly database: Database;
  readonly operationId: string;
  readonly runner: string;
  /** Retries until the work succeeds or the process shuts down. */
  readonly retryUntilDone: <T>(part: string, work: () => Promise<T>) => Promise<T>;
}

export async function openJournal({ database, operationId, runner, retryUntilDone }: JournalOptions): Promise<Journal> {
  const recorded = await retryUntilDone("journal", () => readOutcomes(database, operationId));
  return {
    record: async (part, work) => {
      const known = recorded.get(part);
      if (known !== undefined) return known;
      const start = performance.now();
      const outcome = await work();
      if (outcome === "ended") return outcome;
      const entry = { operationId, runner, part, outcome, milliseconds: performance.now() - start };
      return (await retryUntilDone(part, () => recordOutcome(database, entry))) ? outcome : "ended";
    },
  };
}
