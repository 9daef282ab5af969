/**
 * Which process runs an operation, and what each part of it came to.
 *
 * A process that runs operations is a runner: it has a random id and holds an advisory lock for it on a connection of its
 * own. PostgreSQL releases the lock when the process ends, however it ends, so that an operation whose runner's lock is free
 * has nobody who runs it. A row is written only by the runner that the operation names: a process that lost its lock without
 * noticing can't write into an operation that another has taken over.
 */
import { createHash } from "node:crypto";
import { type ExpressionBuilder, type RawBuilder, sql } from "kysely";
import pg from "pg";
import type { Database, DatabaseTransaction, OperationOutcome, Tables } from "./database.ts";

export interface RunnerLock {
  /** Resolves when the lock is lost without having been released: others may take over our operations from then on. */
  readonly lost: Promise<Error>;
  release(): Promise<void>;
}

/** A running operation, and the runner that claimed it; null if none has. */
export interface RunningOperation {
  readonly id: string;
  readonly runner: string | null;
}

/** Takes the lock of this process. No other process uses `runner`. */
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

/** A 64-bit key for PostgreSQL's advisory locks, as decimal text. */
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

/** True if the operation is ours from now on; false if another runner was first, or it has ended. */
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

/** Takes over the operations of a runner that is dead, and returns their ids; none if it lives. */
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

/** Leaves the operation to whichever process claims it next. */
export async function releaseOperation(database: Database, operationId: string, runner: string): Promise<void> {
  await database
    .updateTable("operations")
    .set({ runner: null })
    .where("id", "=", operationId)
    .where("runner", "=", runner)
    .execute();
}

/**
 * Records that the runner begins `step` after `stepsDone` others. Returns how often processes have begun this step without
 * ending it, this time included; null if the operation has ended, or is another runner's by now.
 */
export async function beginStep(
  database: Database,
  operationId: string,
  runner: string,
  { step, stepsDone }: { readonly step: string; readonly stepsDone: number },
): Promise<number | null> {
  const again = (eb: ExpressionBuilder<Tables, "operations">) =>
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
      attempts: again(eb),
      started_at: eb.fn.coalesce("started_at", sql<Date>`now()`),
    }))
    .where(isRunBy(operationId, runner))
    .returning("attempts")
    .executeTakeFirst();
  return row?.attempts ?? null;
}

/** Takes one beginning back: a process that ends in an orderly way did not die of the step. */
export async function uncountBeginning(
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

/** Outcomes by the name of the part. */
export async function readOutcomes(database: Database, operationId: string): Promise<Map<string, OperationOutcome>> {
  const rows = await database
    .selectFrom("operation_outcomes")
    .select(["part", "outcome"])
    .where("operation_id", "=", operationId)
    .execute();
  return new Map(rows.map(({ part, outcome }) => [part, outcome]));
}

export interface NewOutcome {
  readonly operationId: string;
  readonly runner: string;
  readonly part: string;
  readonly outcome: OperationOutcome;
  /** How long the part took. */
  readonly milliseconds: number;
}

/** False if nothing was written: the operation has ended, or is another runner's by now. */
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

/** Locks the operation's row for the transaction that ends it. False if it has ended, or is another runner's by now. */
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
