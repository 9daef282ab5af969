/** Attempts to sign in with wrong passwords. */
import { sql } from "kysely";
import type { Database, DatabaseTransaction } from "../database.ts";

export interface Attempts {
  readonly failures: number;
  /** Seconds since the last one. */
  readonly seconds: number;
}

/** Attempts older than this no longer count. */
const retentionDays = 1;

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
      on conflict (subject) do update
        set failures = case when f.last_at < now() - make_interval(days => ${retentionDays}::int) then 0 else f.failures end
      returning failures, extract(epoch from clock_timestamp() - last_at)::float8 as seconds`.execute(transaction);
    const [row] = rows;
    if (row !== undefined) attempts.set(subject.toString("hex"), row);
  }
  return subjects.map((subject) => attempts.get(subject.toString("hex")) ?? { failures: 0, seconds: 0 });
}

/** Counts an attempt, which is a failure until `forgetAttempts`. */
export async function countAttempt(transaction: DatabaseTransaction, subjects: readonly Buffer[]): Promise<void> {
  await transaction
    .updateTable("sign_in_failures")
    .set((columns) => ({ failures: columns("failures", "+", 1), last_at: sql<Date>`clock_timestamp()` }))
    .where("subject", "in", subjects)
    .execute();
}

/** Takes back an attempt that succeeded: `forgotten` begin anew, and `counted` had one failure less. */
export async function forgetAttempts(
  transaction: DatabaseTransaction,
  { forgotten, counted }: { readonly forgotten: readonly Buffer[]; readonly counted: readonly Buffer[] },
): Promise<void> {
  await transaction.deleteFrom("sign_in_failures").where("subject", "in", forgotten).execute();
  for (const subject of counted.toSorted(Buffer.compare)) {
    await transaction
      .updateTable("sign_in_failures")
      .set((columns) => ({ failures: columns.fn<number>("greatest", [columns("failures", "-", 1), sql`0`]) }))
      .where("subject", "=", subject)
      .execute();
  }
}

/** Deletes attempts that no longer count. */
export async function deleteOldAttempts(database: Database): Promise<void> {
  await sql`delete from sign_in_failures where last_at < now() - make_interval(days => ${retentionDays}::int)`.execute(
    database,
  );
}
