/** Attempts to sign in with wrong passwords. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

export interface Attempts {
  /** One less for each hour since the last one. */
  readonly failures: number;
  /** Seconds since the last one. */
  readonly seconds: number;
}

/** SQL: the failures that still count. */
const remaining = sql<number>`greatest(0, f.failures - floor(extract(epoch from clock_timestamp() - f.last_at) / 3600))::integer`;

/** After that, even many failures no longer count. */
const retentionDays = 30;

/**
 * Returns the earlier attempts of each subject, which stay locked until the transaction ends: of several attempts at once, each one
 * sees those before it. Subjects are hashes.
 */
export async function lockAttempts(
  transaction: DatabaseTransaction,
  subjects: readonly Buffer[],
): Promise<readonly Attempts[]> {
  const attempts = new Map<string, Attempts>();
  // Always in the same order, so that two transactions can't wait for each other.
  for (const subject of subjects.toSorted(Buffer.compare)) {
    const { rows } = await sql<Attempts>`
      insert into sign_in_failures as f (subject, failures, last_at) values (${subject}, 0, now())
      on conflict (subject) do update set failures = f.failures
      returning ${remaining} as failures, extract(epoch from clock_timestamp() - f.last_at)::float8 as seconds`.execute(
      transaction,
    );
    const [row] = rows;
    if (row !== undefined) attempts.set(subject.toString("hex"), row);
  }
  return subjects.map((subject) => attempts.get(subject.toString("hex")) ?? { failures: 0, seconds: 0 });
}

/** Counts an attempt, which is a failure until `forgetAttempts`. */
export async function countAttempt(transaction: DatabaseTransaction, subjects: readonly Buffer[]): Promise<void> {
  await sql`
    update sign_in_failures f set failures = ${remaining} + 1, previous_at = f.last_at, last_at = clock_timestamp()
    where subject = any(${[...subjects]})`.execute(transaction);
}

/** Takes back an attempt that succeeded: all failures of `forgotten`, and one of `counted`. */
export async function forgetAttempts(
  transaction: DatabaseTransaction,
  { forgotten, counted }: { readonly forgotten: readonly Buffer[]; readonly counted: readonly Buffer[] },
): Promise<void> {
  await lockAttempts(transaction, [...forgotten, ...counted]);
  if (forgotten.length > 0) {
    await transaction.deleteFrom("sign_in_failures").where("subject", "in", forgotten).execute();
  }
  await sql`
    update sign_in_failures f set failures = greatest(0, f.failures - 1), last_at = coalesce(f.previous_at, f.last_at)
    where subject = any(${[...counted]})`.execute(transaction);
}

/** Deletes attempts that no longer count, except those that another transaction is counting. */
export async function deleteOldAttempts(database: Database): Promise<void> {
  await sql`
    delete from sign_in_failures where subject in (
      select subject from sign_in_failures where last_at < now() - make_interval(days => ${retentionDays}::int)
      for update skip locked)`.execute(database);
}
