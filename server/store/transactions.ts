/**
 * Transactions that are repeated if the connection was lost before they were committed, or if PostgreSQL undid them because of other
 * transactions (deadlocks).
 *
 * If it was lost after COMMIT was sent, PostgreSQL is asked for the outcome by the transaction's id. The outcome stays unknown if
 * PostgreSQL can't be reached in time, or has recovered from a crash meanwhile and used the id again.
 */
import { type ControlledTransaction, sql } from "kysely";
import pg from "pg";
import type { Database, DatabaseTransaction, Tables } from "./database.ts";
import {
  DatabaseUnavailable,
  isConflict,
  isConnectionLost,
  OutcomeUnknown,
  pause,
  repeatUndone,
  waitMilliseconds,
} from "./outages.ts";

const invalidParameter = "22023";

/** A transaction that has changed something. */
interface TransactionMark {
  /** PostgreSQL reads the outcome by it. */
  readonly id: string;
  /** When PostgreSQL last recovered from a crash. Ids of transactions that it lost then are used again. */
  readonly recovered: string;
}

/** SQL: changes with each crash recovery, and not with a clean restart. `pg_postmaster_start_time` may stay the same in a crash. */
const lastRecovery = sql`pg_stat_get_bgwriter_stat_reset_time()::text`;

/** Called after the last change, before COMMIT. Returns null if the transaction has changed nothing. */
async function readMark(transaction: DatabaseTransaction): Promise<TransactionMark | null> {
  const { rows } = await sql<{ id: string | null; recovered: string }>`
    select pg_current_xact_id_if_assigned()::text as id, ${lastRecovery} as recovered`.execute(transaction);
  const [row] = rows;
  return row === undefined || row.id === null ? null : { id: row.id, recovered: row.recovered };
}

/** Whether a transaction was committed whose connection was lost with `error` after COMMIT was sent. Throws `OutcomeUnknown`. */
async function wasCommitted(database: Database, mark: TransactionMark | null, error: unknown): Promise<boolean> {
  if (mark === null) return true;
  const deadline = performance.now() + waitMilliseconds;
  do {
    const status = await readStatus(database, mark).catch(statusByError);
    if (status === "committed") return true;
    if (status === "aborted") return false;
    // Null: PostgreSQL can't be reached, or can't tell. Otherwise the process of the old connection is still at work.
    if (status === null) break;
    await pause();
  } while (performance.now() < deadline);
  throw new OutcomeUnknown(error);
}

async function readStatus(database: Database, { id, recovered }: TransactionMark): Promise<string | null> {
  const { rows } = await sql<{ status: string | null; is_same: boolean }>`
    select pg_xact_status(${id}::xid8) as status, ${lastRecovery} = ${recovered} as is_same`.execute(database);
  const [row] = rows;
  // After a crash, this may be another transaction with the same id.
  if (row === undefined || (row.status === "committed" && !row.is_same)) return null;
  return row.status;
}

/** PostgreSQL refuses ids that it has not used yet. It lost such a transaction in a crash. */
const statusByError = (error: unknown): string | null =>
  error instanceof pg.DatabaseError && error.code === invalidParameter ? "aborted" : null;

/**
 * Runs work in a transaction. If the connection is lost and nothing was committed, or PostgreSQL undid it because of other
 * transactions, runs it again in another one: it must change nothing but the database. Throws `DatabaseUnavailable` if that does not help in time, and `OutcomeUnknown` if COMMIT was sent and
 * PostgreSQL does not tell the outcome in time.
 */
export async function runTransaction<T>(
  database: Database,
  work: (transaction: DatabaseTransaction) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + waitMilliseconds;
  const attempt = async () => {
    const finished: { readonly mark: TransactionMark | null; readonly result: T }[] = [];
    try {
      return await database.transaction().execute(async (transaction) => {
        const result = await work(transaction);
        finished.push({ mark: await readMark(transaction), result });
        return result;
      });
    } catch (error) {
      const [sent] = finished;
      if (sent === undefined || !isConnectionLost(error)) throw error;
      if (await wasCommitted(database, sent.mark, error)) return sent.result;
      throw error;
    }
  };
  return attempt().catch((error: unknown) => repeatUndone(attempt, error, deadline));
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
  return attempt().catch((error: unknown) => repeatUndone(attempt, error, deadline));
}

/**
 * Commits a transaction, and releases its connection. Throws `DatabaseUnavailable` if nothing was committed because the connection
 * was lost or because of other transactions, and `OutcomeUnknown` as `runTransaction` does.
 */
export async function commit(database: Database, transaction: ControlledTransaction<Tables>): Promise<void> {
  let sent: { readonly mark: TransactionMark | null } | null = null;
  try {
    sent = { mark: await readMark(transaction) };
    await transaction.commit().execute();
  } catch (error) {
    await transaction
      .rollback()
      .execute()
      .catch(() => undefined);
    if (isConflict(error)) throw new DatabaseUnavailable(error);
    if (!isConnectionLost(error)) throw error;
    if (sent === null || !(await wasCommitted(database, sent.mark, error))) throw new DatabaseUnavailable(error);
  }
}
