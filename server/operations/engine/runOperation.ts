/**
 * The life of one operation, from its first step to the transaction that ends it.
 *
 * Every part of it is recorded in a journal as soon as it is done. A process that takes the operation up after
 * another one died calls this again: the journal gives back what was recorded, and the first part that was not
 * is done again, from its beginning. That is why a step must be the same whether it is run once or twice, and
 * why a step that began is undone even if nobody knows whether it did anything.
 *
 * Nothing may depend on anything but the operation's row as it was accepted and on recorded outcomes.
 */
import type { Logger } from "pino";
import type { Sealer } from "../../sealing.ts";
import type { Database, DatabaseTransaction, Json, OperationOutcome } from "../../store/database.ts";
import { beginStep, lockRunningOperation, uncountBeginning } from "../../store/operationRuns.ts";
import { endOperation, type OperationEnd, type OperationRow, readOperation } from "../../store/operations.ts";
import { attempt, insist, type Pace, pause, Stopping } from "./attempt.ts";
import { CrashLoop, kindOf, publicReason } from "./failures.ts";
import { type Journal, type Outcome, openJournal } from "./journal.ts";
import type { AnyDefinition, EndContext, Step, StepContext } from "./operation.ts";

type GivenUp = Exclude<OperationOutcome, "done">;

export interface RunServices {
  readonly database: Database;
  /** Id of this process among those that run operations. */
  readonly runner: string;
  readonly sealer: Sealer;
  /** By kind. */
  readonly definitions: ReadonlyMap<string, AnyDefinition>;
  readonly log: Logger;
  /** Aborted when the process ends. */
  readonly stop: AbortSignal;
  readonly quickPace: Pace;
  readonly patientPace: Pace;
  /** A step that this many processes began and none ended is given up. */
  readonly mostAttempts: number;
}

const endingDeadlineSeconds = 30;

/** Resolves when the operation has ended. Rejects with `Stopping` if the process ends before. */
export async function runOperation(operationId: string, services: RunServices): Promise<void> {
  const { database, runner, log } = services;
  const insisting = <T>(part: string, work: () => Promise<T>) =>
    insist(work, {
      pace: services.patientPace,
      stop: services.stop,
      onFailure: (err) => log.error({ err, operation: operationId, part }, "Part of an operation failed; retrying"),
    });
  const row = await insisting("read", () => readOperation(database, operationId));
  if (row?.state !== "running") return;
  const definition = services.definitions.get(row.kind);
  if (!definition) throw new Error(`There is no definition of operations of the kind ${row.kind}`);
  const journal = await openJournal({ database, operationId, runner, insist: insisting });
  await new Run(row, definition, journal, services).toItsEnd();
}

class Run {
  readonly #row: OperationRow;
  readonly #definition: AnyDefinition;
  readonly #journal: Journal;
  readonly #services: RunServices;
  readonly #log: Logger;
  /** Work of steps that was given up and goes on in this process: it is waited for before it is undone. */
  readonly #leftOver = new Set<Promise<unknown>>();

  constructor(row: OperationRow, definition: AnyDefinition, journal: Journal, services: RunServices) {
    this.#row = row;
    this.#definition = definition;
    this.#journal = journal;
    this.#services = services;
    this.#log = services.log.child({ operation: row.id, reference_id: row.reference_id });
  }

  async toItsEnd(): Promise<void> {
    const { steps, pointOfNoReturn } = this.#definition;
    const firstFinal = pointOfNoReturn ? steps.findIndex((step) => step.name === pointOfNoReturn) : steps.length;
    for (const [index, step] of steps.entries()) {
      const isFinal = index >= firstFinal;
      const outcome = await this.#journal.record(`run ${step.name}`, () =>
        isFinal ? this.#force(step.name, step, index) : this.#try(step, index),
      );
      if (outcome === "ended") return;
      if (outcome !== "done") return this.#unwind(steps.slice(0, index + 1), outcome);
    }
    const outcome = await this.#journal.record("succeed", () => this.#succeed(firstFinal < steps.length));
    if (typeof outcome === "object") await this.#unwind(steps, outcome);
  }

  /** A step that may fail. */
  async #try(step: Step<Json>, stepsDone: number): Promise<Outcome> {
    const attempts = await this.#begin(step.name, stepsDone);
    if (attempts === null) return "ended";
    if (attempts > this.#services.mostAttempts) return this.#giveUp(step.name, new CrashLoop());
    const error = await this.#uncountedWhenStopping(step.name, () =>
      this.#attempt(step.deadlineSeconds, (signal) => step.run(this.#context(signal))),
    );
    return error ? this.#giveUp(step.name, error) : "done";
  }

  /** A step, or an undo, that can't be given up: tried again until it is done, less and less often. */
  async #force(name: string, step: Pick<Step<Json>, "run" | "deadlineSeconds">, stepsDone: number): Promise<Outcome> {
    const attempts = await this.#begin(name, stepsDone);
    if (attempts === null) return "ended";
    const { mostAttempts, patientPace, stop } = this.#services;
    // Each process that tried this died of it, or so it seems: not at once again.
    if (attempts > mostAttempts) await pause(attempts - mostAttempts, patientPace, stop);
    await this.#letLeftOverEnd(step.deadlineSeconds);
    const tryOnce = async () => {
      const error = await this.#attempt(step.deadlineSeconds, (signal) => step.run(this.#context(signal)));
      if (error) throw error;
    };
    await this.#uncountedWhenStopping(name, () => this.#insist(name, tryOnce));
    return "done";
  }

  /** Only a process that died of a step counts against it, not one that was told to end. */
  async #uncountedWhenStopping<T>(name: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { database, runner } = this.#services;
      if (error instanceof Stopping) await uncountBeginning(database, this.#row.id, runner, name);
      throw error;
    }
  }

  async #unwind(begun: readonly Step<Json>[], { failed: publicError, kind = null }: GivenUp): Promise<void> {
    for (const [index, step] of [...begun.entries()].reverse()) {
      const undo = step.undo?.bind(step);
      if (!undo) continue;
      const name = `undo ${step.name}`;
      const outcome = await this.#journal.record(name, () =>
        this.#force(name, { run: undo, deadlineSeconds: step.deadlineSeconds }, index),
      );
      if (outcome === "ended") return;
    }
    await this.#journal.record("fail", async () => {
      await this.#insist("fail", () =>
        this.#end(async (transaction) => {
          await this.#definition.failed(transaction, this.#endContext(), kind);
          const result = (await this.#definition.keptOfFailure?.(transaction, this.#endContext())) ?? null;
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
      await this.#insist("succeed", end);
      return "ended";
    }
    const error = await this.#attempt(endingDeadlineSeconds, end);
    return error ? this.#giveUp("succeed", error) : "ended";
  }

  /** An undo beside the work that it undoes would be a race: that work gets some time to end. */
  async #letLeftOverEnd(seconds: number): Promise<void> {
    if (this.#leftOver.size === 0) return;
    const time = AbortSignal.any([AbortSignal.timeout(seconds * 1000), this.#services.stop]);
    const timeIsUp = Promise.withResolvers<void>();
    time.addEventListener("abort", () => timeIsUp.resolve(), { once: true });
    await Promise.race([Promise.allSettled(this.#leftOver), timeIsUp.promise]);
  }

  /** One transaction for all that ends with the operation; none if it has ended, or is another process's by now. */
  async #end(decide: (transaction: DatabaseTransaction) => Promise<OperationEnd>): Promise<void> {
    await this.#services.database.transaction().execute(async (transaction) => {
      if (!(await lockRunningOperation(transaction, this.#row.id, this.#services.runner))) return;
      await endOperation(transaction, this.#row.id, await decide(transaction));
    });
  }

  #begin(name: string, stepsDone: number): Promise<number | null> {
    const { database, runner } = this.#services;
    return this.#insist(name, () => beginStep(database, this.#row.id, runner, { step: name, stepsDone }));
  }

  #attempt(deadlineSeconds: number, work: (signal: AbortSignal) => Promise<void>): Promise<Error | null> {
    return attempt(work, {
      deadlineSeconds,
      pace: this.#services.quickPace,
      stop: this.#services.stop,
      onLeftOver: (left) => {
        this.#leftOver.add(left);
        const forget = () => this.#leftOver.delete(left);
        left.then(forget, forget);
      },
    });
  }

  #insist<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { patientPace, stop } = this.#services;
    const onFailure = (err: Error) =>
      this.#log.error({ err, part: name }, "Part of an operation failed; it is tried again");
    return insist(work, { pace: patientPace, stop, onFailure });
  }

  #giveUp(name: string, err: Error): Outcome {
    const reason = publicReason(err, this.#row.reference_id);
    if (reason.saysCause) this.#log.warn({ err, part: name }, "A step of an operation failed");
    else this.#log.error({ err, part: name }, "A step of an operation failed unexpectedly");
    return { failed: reason.text, kind: kindOf(err) };
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
