/**
 * One operation at a time per environment. A lock is a row: taken by the transaction that accepts an
 * operation, released by the one that ends it, and handed over by that one to the operation that has waited longest.
 */
import { sql } from "kysely";
import type { Blocker, Database, DatabaseTransaction } from "./database.ts";

/**
 * Takes every lock for the operation, or none. False if one is held, or where an operation that came earlier
 * waits for one: a late-comer that slipped in would keep it waiting for ever.
 *
 * Where one is held, its holder can't end before this transaction does. So an operation that `wantLocks` in the
 * same transaction is seen by the one that releases them.
 */
export async function takeLocks(
  transaction: DatabaseTransaction,
  operationId: string,
  environmentIds: readonly string[],
): Promise<boolean> {
  // In one order for everybody, so that two operations never wait for each other.
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
    // Their holder has just ended: try again.
  }
}

async function insertLocks(transaction: DatabaseTransaction, operationId: string, wanted: string[]): Promise<string[]> {
  const taken = await transaction
    .insertInto("environment_locks")
    .values(wanted.map((environment_id) => ({ environment_id, operation_id: operationId })))
    .onConflict((conflict) => conflict.doNothing())
    .returning("environment_id")
    .execute();
  const ours = new Set(taken.map((row) => row.environment_id));
  return wanted.filter((id) => !ours.has(id));
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

/** The operations that hold these environments or wait for them, oldest first. */
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

/** Puts the operation in line for the locks. */
export async function wantLocks(
  transaction: DatabaseTransaction,
  operationId: string,
  environmentIds: readonly string[],
): Promise<void> {
  const values = [...new Set(environmentIds)].map((environment_id) => ({ environment_id, operation_id: operationId }));
  await transaction.insertInto("operation_wants").values(values).execute();
}

/** Gives up every lock of the operation. */
export async function releaseLocks(transaction: DatabaseTransaction, operationId: string): Promise<void> {
  await transaction.deleteFrom("environment_locks").where("operation_id", "=", operationId).execute();
}

/** An operation in line: whom it waits behind is decided by the order of the list. */
export interface WaitingOperation {
  readonly operationId: string;
  readonly wants: readonly string[];
}

/**
 * Who may begin now. Longest waiting first; one that can't have all it wants keeps those behind it from what it
 * wants, so that an operation on a whole site is not overtaken for ever by operations on parts of it.
 */
export function planHandover(waiting: readonly WaitingOperation[], locked: ReadonlySet<string>): WaitingOperation[] {
  const spokenFor = new Set(locked);
  const begin: WaitingOperation[] = [];
  for (const operation of waiting) {
    if (operation.wants.every((id) => !spokenFor.has(id))) begin.push(operation);
    for (const id of operation.wants) spokenFor.add(id);
  }
  return begin;
}

/** Hands free locks to those in line and returns the ids of the operations that have theirs now. */
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
  const waiting = [...wants].map(([operationId, own]) => ({
    operationId,
    wants: own.map((row) => row.environment_id),
  }));
  const begin = planHandover(
    waiting,
    await lockedAmong(transaction, [...new Set(rows.map((row) => row.environment_id))]),
  );
  const begun: string[] = [];
  for (const operation of begin) {
    const missing = await insertLocks(transaction, operation.operationId, [...operation.wants]);
    if (missing.length > 0) {
      // Another process was faster, and hands them over in turn.
      await releaseLocks(transaction, operation.operationId);
      continue;
    }
    await transaction.deleteFrom("operation_wants").where("operation_id", "=", operation.operationId).execute();
    begun.push(operation.operationId);
  }
  return begun;
}

async function lockedAmong(transaction: DatabaseTransaction, environmentIds: string[]): Promise<Set<string>> {
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
