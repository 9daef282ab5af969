/**
 * One operation at a time per environment. A lock is a row. The transaction that accepts an operation takes it; the
 * transaction that ends the operation releases it and hands it over to the operation that has waited longest.
 */
import { sql } from "kysely";
import type { Blocker, Database, DatabaseTransaction } from "./database.ts";

/**
 * Takes all locks for the operation, or none. Returns false if one is held, or if an earlier operation waits for one:
 * otherwise that operation could wait for ever.
 *
 * If a lock is held, its holder can't end before this transaction does. So the holder sees an operation that calls
 * `wantLocks` in the same transaction.
 */
export async function takeLocks(
  transaction: DatabaseTransaction,
  operationId: string,
  environmentIds: readonly string[],
): Promise<boolean> {
  // Always in the same order, so that two operations never wait for each other.
  const wanted = [...new Set(environmentIds)].sort();
  if (wanted.length === 0) return true;
  for (;;) {
    const missing = await insertLocks(transaction, operationId, wanted);
    if (missing.length === 0) {
      if (!(await isAwaited(transaction, wanted))) return true;
      await releaseLocks(transaction, operationId);
      return false;
    }
    await releaseLocks(transaction, operationId);
    const held = await transaction
      .selectFrom("environment_locks")
      .select("environment_id")
      .where("environment_id", "in", missing)
      .forUpdate()
      .execute();
    if (held.length > 0) return false;
    // The holder has just ended: try again.
  }
}

async function insertLocks(transaction: DatabaseTransaction, operationId: string, wanted: string[]): Promise<string[]> {
  const taken = await transaction
    .insertInto("environment_locks")
    .values(wanted.map((environment_id) => ({ environment_id, operation_id: operationId })))
    .onConflict((conflict) => conflict.doNothing())
    .returning("environment_id")
    .execute();
  const locked = new Set(taken.map((row) => row.environment_id));
  return wanted.filter((id) => !locked.has(id));
}

async function isAwaited(transaction: DatabaseTransaction, environmentIds: string[]): Promise<boolean> {
  const row = await transaction
    .selectFrom("operation_wants")
    .select("operation_id")
    .where("environment_id", "in", environmentIds)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Finds the operations that hold or wait for these environments, oldest first. */
export async function findBlockers(
  transaction: DatabaseTransaction,
  environmentIds: readonly string[],
): Promise<Blocker[]> {
  const { rows } = await sql<Blocker>`
    select o.id, o.kind from operations o
    where o.id in (
      select operation_id from environment_locks where environment_id = any(${environmentIds}::uuid[])
      union all select operation_id from operation_wants where environment_id = any(${environmentIds}::uuid[]))
    order by o.created_at, o.id`.execute(transaction);
  return rows;
}

/** Whether at least `count` operations wait for one of these environments. */
export async function areWaiting(
  transaction: DatabaseTransaction,
  environmentIds: readonly string[],
  count: number,
): Promise<boolean> {
  if (environmentIds.length === 0) return false;
  const row = await transaction
    .selectFrom("operation_wants")
    .select("environment_id")
    .where("environment_id", "in", environmentIds)
    .groupBy("environment_id")
    .having(({ fn }) => fn.countAll(), ">=", count)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Queues the operation for the locks. */
export async function wantLocks(
  transaction: DatabaseTransaction,
  operationId: string,
  environmentIds: readonly string[],
): Promise<void> {
  const values = [...new Set(environmentIds)].map((environment_id) => ({ environment_id, operation_id: operationId }));
  await transaction.insertInto("operation_wants").values(values).execute();
}

/** Releases all locks of the operation. */
export async function releaseLocks(transaction: DatabaseTransaction, operationId: string): Promise<void> {
  await transaction.deleteFrom("environment_locks").where("operation_id", "=", operationId).execute();
}

/** A queued operation. Its place in the queue is its position in the list. */
interface WaitingOperation {
  readonly operationId: string;
  readonly wants: readonly string[];
}

/**
 * Decides which operations can start now, longest waiting first. An operation that can't have all its locks reserves
 * them against later operations, so that operations on single environments can't overtake one on the whole site for
 * ever.
 */
export function planHandover(waiting: readonly WaitingOperation[], locked: ReadonlySet<string>): WaitingOperation[] {
  const reserved = new Set(locked);
  const ready: WaitingOperation[] = [];
  for (const operation of waiting) {
    if (operation.wants.every((id) => !reserved.has(id))) ready.push(operation);
    for (const id of operation.wants) reserved.add(id);
  }
  return ready;
}

/** Hands free locks to queued operations and returns the ids of those that have all their locks now. */
export async function handOverLocks(transaction: DatabaseTransaction): Promise<string[]> {
  const rows = await transaction
    .selectFrom("operation_wants")
    .innerJoin("operations", "operations.id", "operation_wants.operation_id")
    .select(["operation_wants.operation_id", "operation_wants.environment_id"])
    .orderBy("operations.created_at")
    .orderBy("operations.id")
    .orderBy("operation_wants.environment_id")
    .execute();
  if (rows.length === 0) return [];
  const wants = Map.groupBy(rows, (row) => row.operation_id);
  const waiting = [...wants].map(([operationId, wantRows]) => ({
    operationId,
    wants: wantRows.map((row) => row.environment_id),
  }));
  const ready = planHandover(
    waiting,
    await findLocked(transaction, [...new Set(rows.map((row) => row.environment_id))]),
  );
  const started: string[] = [];
  for (const operation of ready) {
    const missing = await insertLocks(transaction, operation.operationId, [...operation.wants]);
    if (missing.length > 0) {
      // Another process was faster, and will hand the locks over.
      await releaseLocks(transaction, operation.operationId);
      continue;
    }
    await transaction.deleteFrom("operation_wants").where("operation_id", "=", operation.operationId).execute();
    started.push(operation.operationId);
  }
  return started;
}

async function findLocked(transaction: DatabaseTransaction, environmentIds: string[]): Promise<Set<string>> {
  const rows = await transaction
    .selectFrom("environment_locks")
    .select("environment_id")
    .where("environment_id", "in", environmentIds)
    .execute();
  return new Set(rows.map((row) => row.environment_id));
}

/** The operation that holds the environment, or null. */
export async function lockHolder(database: Database, environmentId: string): Promise<string | null> {
  const row = await database
    .selectFrom("environment_locks")
    .select("operation_id")
    .where("environment_id", "=", environmentId)
    .executeTakeFirst();
  return row?.operation_id ?? null;
}
