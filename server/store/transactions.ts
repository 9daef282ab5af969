/**
 * Transactions that are repeated if the connection was lost before they were committed.
 *
 * If it was lost after COMMIT was sent, PostgreSQL is asked for the outcome: it remembers it by the transaction's id, also after a
 * crash.
 */
import { type ControlledTransaction, sql } from "kysely";
import type { Database, DatabaseTransaction, Tables } from "./database.ts";
import {
  DatabaseUnavailable,
  isConnectionLost,
  OutcomeUnknown,
  pause,
  repeatLost,
  waitMilliseconds,
} from "./outages.ts";

/** Null: the transaction has changed nothing. */
type TransactionId = string | null;

/** To be read after the last change, before COMMIT. */
async function readTransactionId(transaction: DatabaseTransaction): Promise<TransactionId> {
  const { rows } = await sql<{ id: TransactionId }>`select pg_current_xact_id_if_assigned()::text as id`.execute(
    transaction,
  );
  return rows[0]?.id ?? null;
}

/** Whether a transaction was committed whose connection was lost with `error` after COMMIT was sent. Throws `OutcomeUnknown`. */
async function wasCommitted(database: Database, id: TransactionId, error: unknown): Promise<boolean> {
  if (id === null) return true;
  const deadline = performance.now() + waitMilliseconds;
  do {
    const status = await readStatus(database, id).catch(() => null);
    if (status === "committed") return true;
    if (status === "aborted") return false;
    // Null: it can't be reached, or does not know. Otherwise the old connection's process is still at work.
    if (status === null) break;
    await pause();
  } while (performance.now() < deadline);
  throw new OutcomeUnknown(error);
}

async function readStatus(database: Database, id: string): Promise<string | null> {
  const { rows } = await sql<{ status: string | null }>`select pg_xact_status(${id}::xid8) as status`.execute(database);
  return rows[0]?.status ?? null;
}

/**
 * Runs work in a transaction. If the connection is lost and nothing was committed, runs it again in another one: it must change
 * nothing but the database. Throws `DatabaseUnavailable` if that does not help in time, and `OutcomeUnknown` if COMMIT was sent and
 * PostgreSQL does not come back in time to tell the outcome.
 */
export async function runTransaction<T>(
  database: Database,
  work: (transaction: DatabaseTransaction) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + waitMilliseconds;
  const attempt = async () => {
    const finished: { readonly id: TransactionId; readonly result: T }[] = [];
    try {
      return await database.transaction().execute(async (transaction) => {
        const result = await work(transaction);
        finished.push({ id: await readTransactionId(transaction), result });
        return result;
      });
    } catch (error) {
      const [sent] = finished;
      if (sent === undefined || !isConnectionLost(error)) throw error;
      if (await wasCommitted(database, sent.id, error)) return sent.result;
      throw error;
    }
  };
  return attempt().catch((error: unknown) => repeatLost(attempt, error, deadline));
}

/** Runs reads that see one state of the database. Repeats all of them if the connection was lost. */
export async function readInSnapshot<T>(database: Database, work: (snapshot: Database) => Promise<T>): Promise<T> {
  const deadline = performance.now() + waitMilliseconds;
  const attempt = async () => {
    const snapshot = await database
      .startTransaction()
      .setIsolationLevel("repeatable read")
      .setAccessMode("read only")
      .execute();
    try {
      return await work(snapshot);
    } finally {
      await snapshot.rollback().execute();
    }
  };
  return attempt().catch((error: unknown) => repeatLost(attempt, error, deadline));
}

/**
 * Commits a transaction, and releases its connection. Throws `DatabaseUnavailable` if nothing was committed because the connection
 * was lost, and `OutcomeUnknown` as `runTransaction` does.
 */
export async function commit(database: Database, transaction: ControlledTransaction<Tables>): Promise<void> {
  let sent: { readonly id: TransactionId } | null = null;
  try {
    sent = { id: await readTransactionId(transaction) };
    await transaction.commit().execute();
  } catch (error) {
    await transaction
      .rollback()
      .execute()
      .catch(() => undefined);
    if (!isConnectionLost(error)) throw error;
    if (sent === null || !(await wasCommitted(database, sent.id, error))) throw new DatabaseUnavailable(error);
  }
}
