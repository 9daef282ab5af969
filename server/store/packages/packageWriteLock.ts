/**
 * Serialises writes about plugins and themes, to prevent deadlocks. Offers of the package source are written to rows of
 * all environments at once, and an environment's packages to many of its own rows, in different orders. Also, the
 * triggers of `packages` lock further rows with each writer's first statement.
 */
import { type RawBuilder, sql, Transaction } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

/** The key of an advisory lock that has no other use. */
const lock = 4_711_029;

/** Locks out other writers until the transaction ends. Call it before the transaction's first write to packages. */
export async function lockPackageWrites(transaction: DatabaseTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${lock})`.execute(transaction);
}

/** Executes a statement that writes about packages under the lock. */
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
