/**
 * Whose turn it is to write about plugins and themes. What the package source offers is written into rows of all environments at
 * once, what an environment has into many of its own, in other orders; and each writer's first statement locks what the triggers of
 * `packages` write. Without turns two of them would hold what the other one waits for.
 */
import { type RawBuilder, sql, Transaction } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

/** Used for nothing else. */
const lock = 4_711_029;

/** Locks out other writers until the transaction ends. Call it before the transaction's first write to packages. */
export async function lockPackageWrites(transaction: DatabaseTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lock})`.execute(transaction);
}

/** Executes what writes about them. */
export async function writeLocked(
  database: Database | DatabaseTransaction,
  statement: RawBuilder<unknown>,
): Promise<void> {
  const write = async (transaction: DatabaseTransaction) => {
    await lockPackageWrites(transaction);
    await statement.execute(transaction);
  };
  await (database instanceof Transaction ? write(database) : database.transaction().execute(write));
}
