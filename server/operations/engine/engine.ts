/**
 * Runs operations so that the death of a process at any instruction loses none. The only module that knows DBOS.
 *
 * DBOS keeps the journal: what each part of an operation gave is a row in its schema `dbos`, and a run that was
 * interrupted is begun again with what was recorded. The rest is ours, because it must hold in one transaction
 * with our rows: acceptance, locks, order, progress, the end.
 *
 * - Start. The commit that accepts an operation announces it; every process hears that and starts a workflow
 *   with the operation's id as its id. DBOS lets one of them have it. No queue is polled.
 * - Recovery. Every `sweepMilliseconds` a process looks for running operations without a workflow (the process
 *   died between commit and start, or an announcement was missed) and for workflows of dead processes
 *   (`executor.ts` says who is dead), which it resumes.
 * - A process that loses its lock can't know whether another took its operations over. It must end: see `lost`.
 *
 * DBOS numbers the parts of a workflow in the order of their calls, and refuses to go on where the name at a number
 * differs. So released steps are never renamed, reordered, put in or taken out (`docs/adding-an-operation.md`).
 * Its applicationVersion is constant: otherwise operations begun by an older version would never be resumed.
 * DBOS is one per process, and so is the engine.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { DBOS } from "@dbos-inc/dbos-sdk";
import pg from "pg";
import type { Database } from "../../store/database.ts";
import type { Notifications } from "../../store/notifications.ts";
import { openPool } from "../../store/open.ts";
import { acceptedChannel } from "../../store/operations.ts";
import { patientPace, quickPace, Stopping } from "./attempt.ts";
import { holdExecutorLock } from "./executor.ts";
import type { AnyDefinition } from "./operation.ts";
import { type Outcome, type RunServices, runOperation } from "./runOperation.ts";
import { startSweeper } from "./sweeper.ts";

export interface EngineOptions extends Pick<RunServices, "log" | "sealer"> {
  readonly url: string;
  readonly database: Database;
  readonly notifications: Notifications;
  readonly definitions: readonly AnyDefinition[];
  readonly sweepMilliseconds?: number;
  readonly paces?: Pick<RunServices, "quickPace" | "patientPace">;
  readonly mostAttempts?: number;
}

export interface Engine {
  /** Resolves when this process may no longer run operations. End it and start another. */
  readonly lost: Promise<Error>;
  /** Takes up what nobody runs, now rather than at the next sweep. */
  sweep(): Promise<void>;
  /** Takes nothing up any more, asks running steps to break off, and leaves them to the next process. */
  stop(): Promise<void>;
}

/** Part of the identity of every recorded workflow. Never change it. */
const workflowName = "operation";
const applicationName = "sitewright";
const applicationVersion = "1";
const schemaLock = 5_170_419_002;
const schemaLockMilliseconds = 50;
/** How long `stop` waits for steps that heard the signal. */
const breakOffMilliseconds = 1_000;

let running: { readonly services: RunServices; readonly active: Set<Promise<unknown>> } | undefined;

const workflow = DBOS.registerWorkflow(
  async (operationId: string): Promise<void> => {
    if (!running) throw new Error("The engine is not running");
    await hangWhenStopping(runOperation(operationId, { record }, running.services));
  },
  // DBOS forgets its count whenever a workflow is resumed; attempts are counted in the operation's row.
  { name: workflowName, maxRecoveryAttempts: Number.MAX_SAFE_INTEGER - 1 },
);

/** One recorded part of an operation. */
async function record(name: string, work: () => Promise<Outcome>): Promise<Outcome> {
  return DBOS.runStep(
    () => {
      const part = work();
      running?.active.add(part);
      return hangWhenStopping(part.finally(() => running?.active.delete(part)));
    },
    { name },
  );
}

/** What a process leaves unfinished when it ends must not be recorded as a failure: it never settles instead. */
async function hangWhenStopping<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Stopping) return await never();
    throw error;
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** Starts to run operations, those that earlier processes left included. One engine per process. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  if (running) throw new Error("This process has an engine already");
  const { log } = options;
  const executorId = randomUUID();
  const stop = new AbortController();
  const active = new Set<Promise<unknown>>();
  // What was started is stopped in reverse: the executor's lock goes last, since then others take over.
  await using started = new AsyncDisposableStack();
  running = { active, services: servicesOf(options, stop.signal) };
  started.defer(() => {
    running = undefined;
  });
  const lock = await holdExecutorLock(options.url, executorId);
  started.defer(() => lock.release());
  const onConnectionLost = (err: Error) => log.warn({ err }, "The engine lost a connection to the database");
  const pool = openPool(options.url, { types: pg.types, onConnectionLost });
  started.defer(() => pool.end());
  started.defer(() => DBOS.shutdown());
  await launch(options, executorId, pool);
  started.defer(async () => {
    stop.abort();
    await waitAtMost(Promise.allSettled(active), breakOffMilliseconds);
  });
  const sweeper = startSweeper({ ...sweeps, pool, executorId, log, milliseconds: options.sweepMilliseconds ?? 1_000 });
  started.defer(() => sweeper.stop());
  started.defer(options.notifications.on(acceptedChannel, (id) => sweeper.start(id)));
  started.defer(options.notifications.onGap(() => void sweeper.sweep()));
  await sweeper.sweep();
  const owned = started.move();
  return { lost: lock.lost, sweep: sweeper.sweep, stop: () => owned.disposeAsync() };
}

/** How DBOS does what a sweep finds to be done. */
const sweeps = {
  start: async (operationId: string) => {
    await DBOS.startWorkflow(workflow, { workflowID: operationId })(operationId);
  },
  resume: async (operationIds: readonly string[]) => {
    await DBOS.resumeWorkflows([...operationIds]);
  },
  startOver: async (operationId: string) => {
    await DBOS.rewindWorkflow(operationId);
  },
};

function servicesOf(options: EngineOptions, stop: AbortSignal): RunServices {
  const { database, sealer, log } = options;
  return {
    database,
    sealer,
    definitions: new Map(options.definitions.map((definition) => [definition.kind, definition])),
    log,
    stop,
    quickPace: options.paces?.quickPace ?? quickPace,
    patientPace: options.paces?.patientPace ?? patientPace,
    mostAttempts: options.mostAttempts ?? 5,
  };
}

/**
 * DBOS creates and migrates its own schema; one process at a time. The lock is asked for again and again rather
 * than waited for: DBOS builds indexes concurrently, which waits for every statement that is under way, ours too.
 */
async function launch(options: EngineOptions, executorId: string, pool: pg.Pool): Promise<void> {
  const { log } = options;
  DBOS.setConfig({
    name: applicationName,
    systemDatabaseUrl: options.url,
    systemDatabasePool: pool,
    executorID: executorId,
    applicationVersion,
    // No queue of ours: only the internal one, on which resumed workflows come back.
    listenQueues: [],
    logger: {
      debug: () => undefined,
      info: (entry) => log.debug({ dbos: entry }, "DBOS"),
      warn: (entry) => log.warn({ dbos: entry }, "DBOS"),
      error: (entry) => log.error({ err: entry }, "DBOS"),
    },
  });
  const client = await pool.connect();
  try {
    while (!(await tryLock(client))) await delay(schemaLockMilliseconds);
    await DBOS.launch();
  } finally {
    // Ending the connection gives the lock up, whatever state it is in.
    client.release(true);
  }
}

async function tryLock(client: pg.PoolClient): Promise<boolean> {
  const query = "select pg_try_advisory_lock($1) as taken";
  const { rows } = await client.query<{ taken: boolean }>(query, [schemaLock]);
  return rows[0]?.taken === true;
}

async function waitAtMost(work: Promise<unknown>, milliseconds: number): Promise<void> {
  const time = Promise.withResolvers<void>();
  const timer = setTimeout(time.resolve, milliseconds);
  await Promise.race([work, time.promise]);
  clearTimeout(timer);
}

/** Removes the journals of operations that are no longer kept. */
export async function deleteJournals(operationIds: readonly string[]): Promise<void> {
  if (operationIds.length > 0) await DBOS.deleteWorkflows([...operationIds]);
}
