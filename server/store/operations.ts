/** Operations: their input, progress and result. */
import { type Selectable, sql } from "kysely";
import type { Pool } from "pg";
import { type BatchedRead, makeBatchedRead } from "./batchedRead.ts";
import { endActivity } from "./company/activity.ts";
import type { Blocker, Database, DatabaseTransaction, Json, Operations } from "./database.ts";
import { handOverLocks, releaseLocks } from "./locks.ts";
import { totalOf } from "./totals.ts";

export type OperationRow = Selectable<Operations>;

/** What the API shows of an operation. */
export type OperationRecord = Omit<
  OperationRow,
  "input" | "secret" | "activity_id" | "attempts" | "runner" | "failure_kind"
>;

/** Notifies, with the operation's id, when a commit allows an operation to start. */
export const acceptedChannel = "operation_accepted";
/** Notifies, with the operation's id, when a commit ends an operation. */
export const endedChannel = "operation_ended";

export interface NewOperation {
  readonly id: string;
  readonly kind: string;
  readonly companyId: string;
  readonly siteId: string | null;
  readonly environmentId: string | null;
  readonly activityId: number;
  readonly state: "running" | "waiting";
  readonly stepsTotal: number;
  readonly input: Json;
  readonly secret: Buffer | null;
  readonly referenceId: string;
}

export async function insertOperation(transaction: DatabaseTransaction, operation: NewOperation): Promise<void> {
  await transaction
    .insertInto("operations")
    .values({
      id: operation.id,
      kind: operation.kind,
      company_id: operation.companyId,
      site_id: operation.siteId,
      environment_id: operation.environmentId,
      activity_id: operation.activityId,
      state: operation.state,
      steps_total: operation.stepsTotal,
      input: JSON.stringify(operation.input),
      secret: operation.secret,
      reference_id: operation.referenceId,
    })
    .execute();
}

export async function setOperationState(
  transaction: DatabaseTransaction,
  operationId: string,
  state: "running" | "waiting",
): Promise<void> {
  await transaction.updateTable("operations").set({ state }).where("id", "=", operationId).execute();
}

export async function readOperation(database: Database, operationId: string): Promise<OperationRow | null> {
  const row = await database.selectFrom("operations").selectAll().where("id", "=", operationId).executeTakeFirst();
  return row ?? null;
}

/** Reads one operation by its id, many with one statement, because clients poll. */
export function makeOperationRead(pool: Pool): BatchedRead<OperationRecord> {
  const text = `select id, kind, company_id, site_id, environment_id, state, step, steps_done, steps_total, result,
      public_error, blocked_by, reference_id, created_at, started_at, finished_at
    from operations where id = any($1::text[])`;
  return makeBatchedRead(async (ids) => {
    const { rows } = await pool.query<OperationRecord>({ name: "get-operations", text, values: [ids] });
    return rows;
  });
}

export const hasEnded = ({ state }: Pick<OperationRow, "state">): boolean =>
  state === "succeeded" || state === "failed";

/** Notifies all processes on commit that the operation may start. */
export async function announceAccepted(transaction: DatabaseTransaction, operationId: string): Promise<void> {
  await sql`select pg_notify(${acceptedChannel}, ${operationId})`.execute(transaction);
}

async function announceEnded(transaction: DatabaseTransaction, operationId: string): Promise<void> {
  await sql`select pg_notify(${endedChannel}, ${operationId})`.execute(transaction);
}

/** Stores an intermediate result of a step. `readResult` returns it. */
export async function saveResult(database: Database, operationId: string, result: Json): Promise<void> {
  await database
    .updateTable("operations")
    .set({ result: JSON.stringify(result) })
    .where("id", "=", operationId)
    .where("state", "=", "running")
    .execute();
}

/**
 * Records the start of work that must not start twice. Returns false if any process recorded it before; the operation's
 * result then has the outcome, if it is known.
 */
export async function recordStart(database: Database, operationId: string): Promise<boolean> {
  const row = await database
    .updateTable("operations")
    .set({ result: JSON.stringify({ begun: true }) })
    .where("id", "=", operationId)
    .where("state", "=", "running")
    .where("result", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

export async function readResult(database: Database | DatabaseTransaction, operationId: string): Promise<Json> {
  const row = await database
    .selectFrom("operations")
    .select("result")
    .where("id", "=", operationId)
    .executeTakeFirstOrThrow();
  return row.result;
}

export type OperationEnd =
  | { readonly state: "succeeded"; readonly result: Json }
  | {
      readonly state: "failed";
      readonly publicError: string;
      readonly failureKind?: "refused" | "superseded" | null;
      readonly blockedBy?: readonly Blocker[];
      readonly result?: Json;
    };

/**
 * Ends the operation and its activity entry, erases its secret, releases its locks, and starts operations that waited
 * for them. Does nothing if the operation has ended already.
 */
export async function endOperation(
  transaction: DatabaseTransaction,
  operationId: string,
  end: OperationEnd,
): Promise<void> {
  const publicError = end.state === "failed" ? end.publicError : null;
  const row = await transaction
    .updateTable("operations")
    .set((eb) => ({
      state: end.state,
      step: null,
      steps_done: end.state === "succeeded" ? eb.ref("steps_total") : eb.ref("steps_done"),
      secret: null,
      result: end.result == null && end.state === "failed" ? null : JSON.stringify(end.result),
      public_error: publicError,
      failure_kind: end.state === "failed" ? (end.failureKind ?? null) : null,
      blocked_by: end.state === "failed" && end.blockedBy ? JSON.stringify(end.blockedBy) : null,
      finished_at: sql<Date>`now()`,
    }))
    .where("id", "=", operationId)
    .where("state", "in", ["running", "waiting"])
    .returning("activity_id")
    .executeTakeFirst();
  if (!row) return;
  await endActivity(transaction, row.activity_id, { hasFailed: end.state === "failed", publicError });
  await releaseLocks(transaction, operationId);
  await announceEnded(transaction, operationId);
  await beginWaiting(transaction);
}

/** Starts all queued operations whose locks are free. Returns their ids. */
export async function beginWaiting(transaction: DatabaseTransaction): Promise<string[]> {
  const started = await handOverLocks(transaction);
  for (const id of started) {
    await setOperationState(transaction, id, "running");
    await announceAccepted(transaction, id);
  }
  return started;
}

/** Null matches all. */
interface OperationFilter {
  readonly companyId: string;
  readonly state: OperationRow["state"] | null;
  /** Only operations of these kinds. */
  readonly kinds: readonly string[] | null;
  readonly siteId: string | null;
  readonly environmentId: string | null;
  /** Only operations on these sites. */
  readonly siteIds: readonly string[] | null;
  readonly limit: number;
  readonly offset: number;
}

function matching(database: Database, filter: OperationFilter) {
  let query = database.selectFrom("operations").where("company_id", "=", filter.companyId);
  if (filter.state !== null) query = query.where("state", "=", filter.state);
  if (filter.kinds !== null) query = query.where("kind", "in", filter.kinds);
  if (filter.siteId !== null) query = query.where("site_id", "=", filter.siteId);
  if (filter.environmentId !== null) query = query.where("environment_id", "=", filter.environmentId);
  if (filter.siteIds !== null) query = query.where(sql<boolean>`site_id = any(${filter.siteIds}::uuid[])`);
  return query;
}

/** Returns a page of operations, newest first, and the total number of matches. */
export async function listOperations(
  database: Database,
  filter: OperationFilter,
): Promise<{ readonly items: OperationRow[]; readonly total: number }> {
  const query = matching(database, filter);
  const newestFirst = query.selectAll().orderBy("created_at", "desc").orderBy("id");
  const items = await newestFirst.limit(filter.limit).offset(filter.offset).execute();
  const counted = query.select(({ fn }) => fn.countAll<number>().as("total"));
  const total = await totalOf(filter, items, async () => (await counted.executeTakeFirstOrThrow()).total);
  return { items, total };
}

/** Returns ids of at most `limit` operations that ended more than `days` days ago. */
export async function listEndedOperations(database: Database, days: number, limit: number): Promise<string[]> {
  const rows = await database
    .selectFrom("operations")
    .select("id")
    .where("state", "in", ["succeeded", "failed"])
    .where("finished_at", "<", sql<Date>`now() - make_interval(days => ${days}::int)`)
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

export async function deleteOperations(database: Database, ids: readonly string[]): Promise<void> {
  await database.deleteFrom("operations").where("id", "in", ids).execute();
}
