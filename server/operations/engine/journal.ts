/** What the parts of one operation came to. A part that was recorded is never run again. */
import type { Database, OperationOutcome } from "../../store/database.ts";
import { readOutcomes, recordOutcome } from "../../store/operationRuns.ts";

/** `ended`: there is nothing to go on with, because the operation has ended or is another process's by now. */
export type Outcome = OperationOutcome | "ended";

export interface Journal {
  /** Runs `work` unless this part was recorded before; returns what it came to. Parts are told apart by their names. */
  record(part: string, work: () => Promise<Outcome>): Promise<Outcome>;
}

export interface JournalOptions {
  readonly database: Database;
  readonly operationId: string;
  readonly runner: string;
  /** Retries until it succeeds, or the process ends. */
  readonly insist: <T>(part: string, work: () => Promise<T>) => Promise<T>;
}

export async function openJournal({ database, operationId, runner, insist }: JournalOptions): Promise<Journal> {
  const recorded = await insist("journal", () => readOutcomes(database, operationId));
  return {
    record: async (part, work) => {
      const known = recorded.get(part);
      if (known !== undefined) return known;
      const began = performance.now();
      const outcome = await work();
      if (outcome === "ended") return outcome;
      const entry = { operationId, runner, part, outcome, milliseconds: performance.now() - began };
      return (await insist(part, () => recordOutcome(database, entry))) ? outcome : "ended";
    },
  };
}
