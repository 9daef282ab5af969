/**
 * Runs one operation, from its first step to the transaction that ends it.
 *
 * Each part is recorded in a journal as soon as it is done. After a crash, another process runs the operation again:
 * recorded parts are skipped, and the first unrecorded part runs from its beginning. Therefore steps must be
 * idempotent, and a step that was started is undone even if it is unknown whether it had any effect.
 *
 * The control flow must depend only on the operation's row as it was accepted and on recorded outcomes.
 */
import type { Turns } from "@sitewright/runtimes/turns.ts";
import type { Logger } from "pino";
import type { Sealer } from "../../sealing.ts";
import type { Database, DatabaseTransaction, Json, OperationOutcome } from "../../store/database.ts";
import { lockRunningOperation, revertAttempt, startStep } from "../../store/operationRuns.ts";
import { endOperation, type OperationEnd, type OperationRow, readOperation } from "../../store/operations.ts";
import { attempt, type Backoff, pause, retryUntilDone, Stopping } from "./attempt.ts";
import { CrashLoop, failureKindOf, publicReason } from "./failures.ts";
import { type Journal, type Outcome, openJournal } from "./journal.ts";
import type { AnyDefinition, EndContext, Step, StepContext } from "./operation.ts";

type Failure = Exclude<OperationOutcome, "done">;

export interface RunServices {
  readonly database: Database;
  /** Id of the engine that runs the operations. */
  readonly runner: string;
  readonly sealer: Sealer;
  /** By kind. */
  readonly definitions: ReadonlyMap<string, AnyDefinition>;
  /** For steps that use much of the machine, by company. */
  readonly turns: Pick<Turns, "take">;
  readonly log: Logger;
  /** Aborted on shutdown. */
  readonly stop: AbortSignal;
  readonly quickBackoff: Backoff;
  readonly persistentBackoff: Backoff;
  /** A step fails after this many processes have died while running it. */
  readonly maxAttempts: number;
}

const endingDeadlineSeconds = 30;

/** Resolves when the operation has ended. Rejects with `Stopping` if the process shuts down first. */
export async function runOperation(operationId: string, services: RunServices): Promise<void> {
  const { database, runner, log } = services;
  const retry = <T>(part: string, work: () => Promise<T>) =>
    retryUntilDone(work, {
      backoff: services.persistentBackoff,
      stop: services.stop,
      onFailure: (err) => log.error({ err, operation: operationId, part }, "Part of an operation failed; retrying"),
    });
  const row = await retry("read", () => readOperation(database, operationId));
  if (row?.state !== "running") return;
  const definition = services.definitions.get(row.kind);
  if (!definition) throw new Error(`Operations of the kind ${row.kind} have no definition`);
  const journal = await openJournal({ database, operationId, runner, retryUntilDone: retry });
  await new Run(row, definition, journal, services).execute();
}

class Run {
  readonly #row: OperationRow;
  readonly #definition: AnyDefinition;
  readonly #journal: Journal;
  readonly #services: RunServices;
  readonly #log: Logger;
  /** Work of steps that is still running after its deadline. An undo waits for it. */
  readonly #abandoned = new Set<Promise<unknown>>();
  #endTurn = () => {};

  constructor(row: OperationRow, definition: AnyDefinition, journal: Journal, services: RunServices) {
    this.#row = row;
    this.#definition = definition;
    this.#journal = journal;
    this.#services = services;
    this.#log = services.log.child({ operation: row.id, reference_id: row.reference_id });
  }

  async execute(): Promise<void> {
    try {
      await this.#runAll();
    } finally {
      this.#endTurn();
    }
  }

  async #runAll(): Promise<void> {
    const { steps, pointOfNoReturn } = this.#definition;
    const firstFinal = pointOfNoReturn ? steps.findIndex((step) => step.name === pointOfNoReturn) : steps.length;
    for (const [index, step] of steps.entries()) {
      const isFinal = index >= firstFinal;
      const outcome = await this.#journal.record(`run ${step.name}`, async () => {
        // Past that step it goes on at once after a crash, because visitors may be waiting for it.
        if (step.name === this.#definition.turnFrom) await this.#takeTurn();
        return isFinal ? this.#runUntilDone(step.name, step, index) : this.#try(step, index);
      });
      if (outcome === "ended") return;
      if (outcome !== "done") return this.#unwind(steps.slice(0, index + 1), outcome);
    }
    const outcome = await this.#journal.record("succeed", () => this.#succeed(firstFinal < steps.length));
    if (typeof outcome === "object") await this.#unwind(steps, outcome);
  }

  async #takeTurn(): Promise<void> {
    const { turns, stop } = this.#services;
    const end = await turns.take(this.#row.company_id, stop).catch(() => {
      throw new Stopping();
    });
    this.#endTurn = () => {
      this.#endTurn = () => {};
      end();
    };
  }

  /** Runs a step that may fail. */
  async #try(step: Step<Json>, stepsDone: number): Promise<Outcome> {
    const attempts = await this.#begin(step.name, stepsDone);
    if (attempts === null) return "ended";
    if (attempts > this.#services.maxAttempts) return this.#giveUp(step.name, new CrashLoop());
    const error = await this.#uncountOnShutdown(step.name, () =>
      this.#attempt(step.deadlineSeconds, (signal) => step.run(this.#context(signal))),
    );
    return error ? this.#giveUp(step.name, error) : "done";
  }

  /** Runs a step or an undo that must succeed: retries until it is done, with growing pauses. */
  async #runUntilDone(
    name: string,
    step: Pick<Step<Json>, "run" | "deadlineSeconds">,
    stepsDone: number,
  ): Promise<Outcome> {
    const attempts = await this.#begin(name, stepsDone);
    if (attempts === null) return "ended";
    const { maxAttempts, persistentBackoff, stop } = this.#services;
    // It may have crashed each process that tried it, so wait before the next try.
    if (attempts > maxAttempts) await pause(attempts - maxAttempts, persistentBackoff, stop);
    await this.#waitForAbandonedWork(step.deadlineSeconds);
    const tryOnce = async () => {
      const error = await this.#attempt(step.deadlineSeconds, (signal) => step.run(this.#context(signal)));
      if (error) throw error;
    };
    await this.#uncountOnShutdown(name, () => this.#retryUntilDone(name, tryOnce));
    return "done";
  }

  /** Counts only crashes against a step, not shutdowns. */
  async #uncountOnShutdown<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { database, runner } = this.#services;
      if (error instanceof Stopping) await revertAttempt(database, this.#row.id, runner, name);
      throw error;
    }
  }

  async #unwind(begun: readonly Step<Json>[], { failed: publicError, kind = null }: Failure): Promise<void> {
    for (const [index, step] of [...begun.entries()].reverse()) {
      const undo = step.undo?.bind(step);
      if (!undo) continue;
      const name = `undo ${step.name}`;
      const outcome = await this.#journal.record(name, () =>
        this.#runUntilDone(name, { run: undo, deadlineSeconds: step.deadlineSeconds }, index),
      );
      if (outcome === "ended") return;
    }
    await this.#journal.record("fail", async () => {
      await this.#retryUntilDone("fail", () =>
        this.#end(async (transaction) => {
          await this.#definition.failed(transaction, this.#endContext(), kind);
          const result = (await this.#definition.failureResult?.(transaction, this.#endContext())) ?? null;
          return { state: "failed", publicError, failureKind: kind, result };
        }),
      );
      return "ended";
    });
  }

  async #succeed(isPastReturn: boolean): Promise<Outcome> {
    const end = () =>
      this.#end(async (transaction) => ({
        state: "succeeded",
        result: await this.#definition.succeeded(transaction, this.#endContext()),
      }));
    if (isPastReturn) {
      await this.#retryUntilDone("succeed", end);
      return "ended";
    }
    const error = await this.#attempt(endingDeadlineSeconds, end);
    return error ? this.#giveUp("succeed", error) : "ended";
  }

  /** Waits for abandoned work, up to `seconds`: an undo that runs at the same time as its step would be a race. */
  async #waitForAbandonedWork(seconds: number): Promise<void> {
    if (this.#abandoned.size === 0) return;
    const time = AbortSignal.any([AbortSignal.timeout(seconds * 1000), this.#services.stop]);
    const timeIsUp = Promise.withResolvers<void>();
    time.addEventListener("abort", () => timeIsUp.resolve(), { once: true });
    await Promise.race([Promise.allSettled(this.#abandoned), timeIsUp.promise]);
  }

  /** Ends the operation in one transaction. Does nothing if it has ended, or if another process has taken it over. */
  async #end(decide: (transaction: DatabaseTransaction) => Promise<OperationEnd>): Promise<void> {
    await this.#services.database.transaction().execute(async (transaction) => {
      if (!(await lockRunningOperation(transaction, this.#row.id, this.#services.runner))) return;
      await endOperation(transaction, this.#row.id, await decide(transaction));
    });
  }

  #begin(name: string, stepsDone: number): Promise<number | null> {
    const { database, runner } = this.#services;
    return this.#retryUntilDone(name, () => startStep(database, this.#row.id, runner, { step: name, stepsDone }));
  }

  #attempt(deadlineSeconds: number, work: (signal: AbortSignal) => Promise<void>): Promise<Error | null> {
    return attempt(work, {
      deadlineSeconds,
      backoff: this.#services.quickBackoff,
      stop: this.#services.stop,
      onAbandoned: (abandoned) => {
        this.#abandoned.add(abandoned);
        const forget = () => this.#abandoned.delete(abandoned);
        abandoned.then(forget, forget);
      },
    });
  }

  #retryUntilDone<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { persistentBackoff, stop } = this.#services;
    const onFailure = (err: Error) => {
      this.#log.error({ err, part: name }, "Part of an operation failed; retrying");
      // It may take days, and others must not wait for it.
      this.#endTurn();
    };
    return retryUntilDone(work, { backoff: persistentBackoff, stop, onFailure });
  }

  #giveUp(name: string, err: Error): Outcome {
    const reason = publicReason(err, this.#row.reference_id);
    if (reason.saysCause) this.#log.warn({ err, part: name }, "A step of an operation failed");
    else this.#log.error({ err, part: name }, "A step of an operation failed unexpectedly");
    return { failed: reason.text, kind: failureKindOf(err) };
  }

  #endContext(): EndContext<Json> {
    return {
      operationId: this.#row.id,
      companyId: this.#row.company_id,
      siteId: this.#row.site_id,
      environmentId: this.#row.environment_id,
      input: this.#row.input,
    };
  }

  #context(signal: AbortSignal): StepContext<Json> {
    const { secret, id } = this.#row;
    return {
      ...this.#endContext(),
      signal,
      secret: () => {
        if (!secret) throw new Error(`Operation ${id} was accepted without a secret`);
        return this.#services.sealer.open(secret, id);
      },
    };
  }
}
