/**
 * Which process runs an operation, and the outcome of each of its parts.
 *
 * A process that runs operations is a runner. It has a random id and holds an advisory lock for it on its own
 * connection. PostgreSQL releases the lock when the process ends for any reason, so a free lock means that no process
 * runs the operation. Only the runner named in the operation can write to it: a process that lost its lock without
 * noticing can't change an operation that another process has taken over.
 */
import { createHash } from "node:crypto";
import { type ExpressionBuilder, type RawBuilder, sql } from "kysely";
import pg from "pg";
import type { Database, DatabaseTransaction, OperationOutcome, Tables } from "./database.ts";

interface RunnerLock {
  /** Resolves when the lock is lost without `release`: other processes may then take over our operations. */
  readonly lost: Promise<Error>;
  release(): Promise<void>;
}

/** A running operation. `runner` is null until a process claims it. */
export interface RunningOperation {
  readonly id: string;
  readonly runner: string | null;
}

/** Takes the lock of this process. `runner` must be unique. */
export async function holdRunnerLock(url: string, runner: string): Promise<RunnerLock> {
  const lost = Promise.withResolvers<Error>();
  let isReleased = false;
  const client = new pg.Client({ connectionString: url, application_name: "sitewright", keepAlive: true });
  client.on("error", lost.resolve);
  client.on("end", () => {
    if (!isReleased) lost.resolve(new Error("The connection that holds the runner's lock ended"));
  });
  await client.connect();
  await client.query("select pg_advisory_lock($1)", [lockKey(runner)]);
  return {
    lost: lost.promise,
    release: async () => {
      isReleased = true;
      await client.end();
    },
  };
}

/** The runner's 64-bit key for advisory locks, in decimal. */
function lockKey(runner: string): string {
  return createHash("sha256").update(`sitewright executor ${runner}`).digest().readBigInt64BE(0).toString();
}

export async function listRunningOperations(database: Database): Promise<RunningOperation[]> {
  return database
    .selectFrom("operations")
    .select(["id", "runner"])
    .where("state", "=", "running")
    .orderBy("created_at")
    .execute();
}

/** Claims an operation. Returns false if another runner was first, or if it has ended. */
export async function claimOperation(database: Database, operationId: string, runner: string): Promise<boolean> {
  const row = await database
    .updateTable("operations")
    .set({ runner })
    .where("id", "=", operationId)
    .where("state", "=", "running")
    .where("runner", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/** Takes over the operations of a dead runner and returns their ids; empty if the runner is alive. */
export async function claimFromDead(database: Database, dead: string, runner: string): Promise<string[]> {
  return database.transaction().execute(async (transaction) => {
    // Held until this transaction ends, so that only one process takes over.
    const free = await sql<{ free: boolean }>`select pg_try_advisory_xact_lock(${lockKey(dead)}) as free`.execute(
      transaction,
    );
    if (free.rows[0]?.free !== true) return [];
    const rows = await transaction
      .updateTable("operations")
      .set({ runner })
      .where("runner", "=", dead)
      .where("state", "=", "running")
      .returning("id")
      .execute();
    return rows.map((row) => row.id);
  });
}

/** Releases the operation for any process to claim. */
export async function releaseOperation(database: Database, operationId: string, runner: string): Promise<void> {
  await database
    .updateTable("operations")
    .set({ runner: null })
    .where("id", "=", operationId)
    .where("runner", "=", runner)
    .execute();
}

/**
 * Records that the runner starts `step` after `stepsDone` others. Returns the number of attempts at this step,
 * including this one, or null if the operation has ended or belongs to another runner.
 */
export async function startStep(
  database: Database,
  operationId: string,
  runner: string,
  { step, stepsDone }: { readonly step: string; readonly stepsDone: number },
): Promise<number | null> {
  const nextAttempts = (eb: ExpressionBuilder<Tables, "operations">) =>
    eb
      .case()
      .when("step", "=", step)
      .then(eb("attempts", "+", 1))
      .else(1)
      .end();
  const row = await database
    .updateTable("operations")
    .set((eb) => ({
      step,
      steps_done: stepsDone,
      attempts: nextAttempts(eb),
      started_at: eb.fn.coalesce("started_at", sql<Date>`now()`),
    }))
    .where(isRunBy(operationId, runner))
    .returning("attempts")
    .executeTakeFirst();
  return row?.attempts ?? null;
}

/** Subtracts one attempt: after an orderly shutdown, the step is not to blame. */
export async function revertAttempt(
  database: Database,
  operationId: string,
  runner: string,
  step: string,
): Promise<void> {
  await database
    .updateTable("operations")
    .set((eb) => ({ attempts: eb("attempts", "-", 1) }))
    .where(isRunBy(operationId, runner))
    .where("step", "=", step)
    .where("attempts", ">", 0)
    .execute();
}

/** Reads the operation's outcomes by part. */
export async function readOutcomes(database: Database, operationId: string): Promise<Map<string, OperationOutcome>> {
  const rows = await database
    .selectFrom("operation_outcomes")
    .select(["part", "outcome"])
    .where("operation_id", "=", operationId)
    .execute();
  return new Map(rows.map(({ part, outcome }) => [part, outcome]));
}

interface NewOutcome {
  readonly operationId: string;
  readonly runner: string;
  readonly part: string;
  readonly outcome: OperationOutcome;
  /** Duration of the part. */
  readonly milliseconds: number;
}

/** Records an outcome. Returns false if the operation has ended or belongs to another runner. */
export async function recordOutcome(database: Database, outcome: NewOutcome): Promise<boolean> {
  const { rows } = await sql`
    insert into operation_outcomes (operation_id, part, outcome, milliseconds)
    select id, ${outcome.part}, ${JSON.stringify(outcome.outcome)}::jsonb, ${Math.round(outcome.milliseconds)}::integer
    from operations where ${isRunBy(outcome.operationId, outcome.runner)}
    for share
    on conflict (operation_id, part) do update set part = excluded.part
    returning part`.execute(database);
  return rows.length > 0;
}

/**
 * Locks the operation's row for the transaction that ends it. Returns false if it has ended or belongs to another
 * runner.
 */
export async function lockRunningOperation(
  transaction: DatabaseTransaction,
  operationId: string,
  runner: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from operations where ${isRunBy(operationId, runner)} for update`.execute(transaction);
  return rows.length > 0;
}

function isRunBy(operationId: string, runner: string): RawBuilder<boolean> {
  return sql`id = ${operationId} and state = 'running' and runner = ${runner}`;
}
