/** Operations as rows: what was accepted, how far it is, how it ended. */
import { type Selectable, sql } from "kysely";
import { endActivity } from "./company/activity.ts";
import type { Blocker, Database, DatabaseTransaction, Json, Operations } from "./database.ts";
import { handOverLocks, releaseLocks } from "./locks.ts";

export type OperationRow = Selectable<Operations>;

/** Notified, with the operation's id, by the commit after which the operation may begin. */
export const acceptedChannel = "operation_accepted";
/** Notified, with the operation's id, by the commit that ended the operation. */
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

/** True for an operation that does not exist, too. */
export async function hasOperationEnded(database: Database, operationId: string): Promise<boolean> {
  const row = await database.selectFrom("operations").select("state").where("id", "=", operationId).executeTakeFirst();
  return row === undefined || row.state === "succeeded" || row.state === "failed";
}

/** Tells every process, when this transaction commits, that the operation may begin. */
export async function announceAccepted(transaction: DatabaseTransaction, operationId: string): Promise<void> {
  await sql`select pg_notify(${acceptedChannel}, ${operationId})`.execute(transaction);
}

async function announceEnded(transaction: DatabaseTransaction, operationId: string): Promise<void> {
  await sql`select pg_notify(${endedChannel}, ${operationId})`.execute(transaction);
}

/** Keeps what a step found out until the operation ends, when `readResult` gives it back. */
export async function saveResult(database: Database, operationId: string, result: Json): Promise<void> {
  await database
    .updateTable("operations")
    .set({ result: JSON.stringify(result) })
    .where("id", "=", operationId)
    .where("state", "=", "running")
    .execute();
}

/**
 * Notes that something begins which must not begin twice. False if that was noted before, by whichever process: what
 * came of it is then in the result, if anything is known of it.
 */
export async function noteBegun(database: Database, operationId: string): Promise<boolean> {
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
 * Ends the operation, its activity entry and its locks, erases its secret, and lets those in line for the locks
 * begin. An operation that has ended before stays as it is.
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

/** Lets every operation in line begin whose locks are free. Returns their ids. */
export async function beginWaiting(transaction: DatabaseTransaction): Promise<string[]> {
  const begun = await handOverLocks(transaction);
  for (const id of begun) {
    await setOperationState(transaction, id, "running");
    await announceAccepted(transaction, id);
  }
  return begun;
}

/** Null = any. */
export interface OperationFilter {
  readonly companyId: string;
  readonly state: OperationRow["state"] | null;
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
  if (filter.siteId !== null) query = query.where("site_id", "=", filter.siteId);
  if (filter.environmentId !== null) query = query.where("environment_id", "=", filter.environmentId);
  if (filter.siteIds !== null) query = query.where(sql<boolean>`site_id = any(${filter.siteIds}::uuid[])`);
  return query;
}

/** A page of operations, newest first, and how many match in all. */
export async function listOperations(
  database: Database,
  filter: OperationFilter,
): Promise<{ readonly items: OperationRow[]; readonly total: number }> {
  const page = matching(database, filter).selectAll().orderBy("created_at", "desc").orderBy("id");
  const [items, { total }] = await Promise.all([
    page.limit(filter.limit).offset(filter.offset).execute(),
    matching(database, filter)
      .select(({ fn }) => fn.countAll<number>().as("total"))
      .executeTakeFirstOrThrow(),
  ]);
  return { items, total };
}

/** Ids of at most `limit` operations that ended more than `days` ago. */
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
