/**
 * Runs operations so that none is lost if a process is killed at any instruction. Several processes can run operations
 * of one database, and one process can have several engines.
 *
 * - Start. The commit that accepts an operation also announces it. Every process receives the announcement and tries to
 *   claim the operation; one succeeds. There is no polling.
 * - Recovery. At startup and every `sweepMilliseconds`, a process looks for running operations without a runner (it
 *   missed an announcement) and for operations of dead processes (`store/operationRuns.ts` says how death is detected).
 *   It claims them and continues after the last recorded part (`journal.ts`).
 * - Fencing. A process that loses its lock can't know whether another process has taken over its operations. Its engine
 *   stops; `keepEngine.ts` starts another one when no step is running any more. Until then its writes about operations
 *   have no effect, because each write names the runner.
 */
import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import { createTurns } from "@sitewright/runtimes/turns.ts";
import type { Database } from "../../store/database.ts";
import type { Notifications } from "../../store/notifications.ts";
import {
  claimFromDead,
  claimOperation,
  holdRunnerLock,
  listRunningOperations,
  releaseOperation,
} from "../../store/operationRuns.ts";
import { acceptedChannel } from "../../store/operations.ts";
import { persistentBackoff, quickBackoff, Stopping } from "./attempt.ts";
import type { AnyDefinition } from "./operation.ts";
import { type RunServices, runOperation } from "./runOperation.ts";
import { planSweep } from "./sweep.ts";

export interface EngineOptions extends Pick<RunServices, "log" | "sealer"> {
  readonly url: string;
  readonly database: Database;
  readonly notifications: Notifications;
  readonly definitions: readonly AnyDefinition[];
  /** How many operations use much of the machine at the same time. Absent: twice as many as it has processors. */
  readonly concurrency?: number;
  readonly sweepMilliseconds?: number;
  readonly backoffs?: Pick<RunServices, "quickBackoff" | "persistentBackoff">;
  readonly maxAttempts?: number;
}

export interface Engine {
  /** Resolves when the engine has lost the right to run operations. See `keepEngine.ts`. */
  readonly lost: Promise<Error>;
  /** Claims unclaimed operations now instead of at the next sweep. Never rejects. */
  sweep(): Promise<void>;
  /** Resolves when no step is running in this process. */
  settled(): Promise<unknown>;
  /** Claims no more operations, aborts running steps, and leaves them to the next process. */
  stop(): Promise<void>;
}

/** They also wait for the disk and for each other's PHP. */
const defaultConcurrency = Math.max(4, 2 * availableParallelism());

/** How long `stop` waits for aborted steps. */
const shutdownGraceMilliseconds = 1_000;

/** Starts running operations, including unfinished ones of earlier processes. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const runner = randomUUID();
  const stop = new AbortController();
  // Disposed of in reverse order: the runner's lock is released last, because other processes take over from then on.
  await using started = new AsyncDisposableStack();
  const lock = await holdRunnerLock(options.url, runner);
  started.defer(() => lock.release());
  const runs = startRuns(runner, servicesOf(options, runner, stop.signal));
  started.defer(async () => {
    stop.abort();
    await waitAtMost(runs.settled(), shutdownGraceMilliseconds);
  });
  const sweeps = repeat(runs.sweep, options.sweepMilliseconds ?? 1_000, stop.signal);
  started.defer(sweeps.stop);
  lock.lost.then(() => stop.abort());
  started.defer(options.notifications.on(acceptedChannel, (id) => void runs.start(id)));
  started.defer(options.notifications.onGap(() => void sweeps.now()));
  await sweeps.now();
  const owned = started.move();
  return { lost: lock.lost, sweep: sweeps.now, settled: runs.settled, stop: () => owned.disposeAsync() };
}

interface Runs {
  /** Claims an accepted operation and runs it. If that fails, the next sweep does it. Never rejects. */
  start(operationId: string): Promise<void>;
  /** Never rejects. */
  sweep(): Promise<void>;
  /** Resolves when no operation is running in this process. */
  settled(): Promise<unknown>;
}

function startRuns(runner: string, services: RunServices): Runs {
  const { database, log, stop } = services;
  const active = new Map<string, Promise<void>>();
  /** Operations that this process can't run, for example because only a newer version knows their kind. */
  const declined = new Set<string>();

  function run(operationId: string): void {
    if (stop.aborted || active.has(operationId)) return;
    const work = runOperation(operationId, services)
      .catch((error: unknown) => decline(operationId, error))
      .finally(() => active.delete(operationId));
    active.set(operationId, work);
  }

  async function decline(operationId: string, error: unknown): Promise<void> {
    if (error instanceof Stopping) return;
    declined.add(operationId);
    log.error(
      { err: error, operation: operationId },
      "This process can't run an operation; leaving it to another process",
    );
    await releaseOperation(database, operationId, runner).catch((err: unknown) =>
      log.error({ err, operation: operationId }, "Could not release an operation for another process"),
    );
  }

  async function claim(operationId: string): Promise<void> {
    if (stop.aborted || declined.has(operationId)) return;
    if (await claimOperation(database, operationId, runner)) run(operationId);
  }

  async function takeOver(dead: string): Promise<void> {
    const operations = await claimFromDead(database, dead, runner);
    if (operations.length > 0) log.warn({ operations }, "Resuming operations of a process that ended");
    operations.forEach(run);
  }

  async function sweep(): Promise<void> {
    const { unclaimed, dropped, others } = planSweep(await listRunningOperations(database), runner, (id) =>
      active.has(id),
    );
    dropped.filter((id) => !declined.has(id)).forEach(run);
    await Promise.all(unclaimed.map(claim));
    for (const other of others) await takeOver(other);
  }

  return {
    start: (id) =>
      claim(id).catch((err: unknown) =>
        log.warn({ err, operation: id }, "Could not start an operation; the next sweep will retry"),
      ),
    sweep: () =>
      sweep().catch((err: unknown) =>
        log.warn({ err }, "Could not look for interrupted operations; the next sweep will retry"),
      ),
    settled: () => Promise.allSettled(active.values()),
  };
}

/** Repeats `work`, which must not reject, with a pause after each run, until it is stopped. */
function repeat(work: () => Promise<void>, pauseMilliseconds: number, stop: AbortSignal) {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> | undefined;
  let isStopped = false;

  function now(): Promise<void> {
    clearTimeout(timer);
    current ??= work().finally(() => {
      current = undefined;
      if (!isStopped && !stop.aborted) timer = setTimeout(now, pauseMilliseconds);
    });
    return current;
  }

  return {
    now,
    stop: async () => {
      isStopped = true;
      await current;
      clearTimeout(timer);
    },
  };
}

function servicesOf(options: EngineOptions, runner: string, stop: AbortSignal): RunServices {
  const { database, sealer, log } = options;
  options.definitions.forEach(requireNamedSteps);
  return {
    database,
    runner,
    sealer,
    definitions: new Map(options.definitions.map((definition) => [definition.kind, definition])),
    log,
    turns: createTurns({ total: options.concurrency ?? defaultConcurrency }),
    stop,
    quickBackoff: options.backoffs?.quickBackoff ?? quickBackoff,
    persistentBackoff: options.backoffs?.persistentBackoff ?? persistentBackoff,
    maxAttempts: options.maxAttempts ?? 5,
  };
}

/** Throws if a definition names a step that it does not have. */
function requireNamedSteps({ kind, steps, turnFrom, pointOfNoReturn }: AnyDefinition): void {
  for (const name of [turnFrom, pointOfNoReturn]) {
    if (name === undefined || steps.some((step) => step.name === name)) continue;
    throw new Error(`The operation ${kind} has no step ${name}`);
  }
}

async function waitAtMost(work: Promise<unknown>, milliseconds: number): Promise<void> {
  const time = Promise.withResolvers<void>();
  const timer = setTimeout(time.resolve, milliseconds);
  await Promise.race([work, time.promise]);
  clearTimeout(timer);
}
