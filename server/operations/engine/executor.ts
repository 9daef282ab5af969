/**
 * Who is alive. Each process that runs operations has a random id and holds an advisory lock for it on a
 * connection of its own; when the process ends, however it ends, PostgreSQL gives the lock up. Operations of an
 * id whose lock can be had are nobody's.
 */
import { createHash } from "node:crypto";
import pg from "pg";

export interface ExecutorLock {
  /** Resolves when the lock is lost though it was not released: others may take our operations from now on. */
  readonly lost: Promise<Error>;
  release(): Promise<void>;
}

/** A 64-bit key for `pg_advisory_lock`, as decimal text. */
function lockKey(executorId: string): string {
  return createHash("sha256").update(`sitewright executor ${executorId}`).digest().readBigInt64BE(0).toString();
}

/** Takes the lock of this process. `executorId` is used by no other. */
export async function holdExecutorLock(url: string, executorId: string): Promise<ExecutorLock> {
  const lost = Promise.withResolvers<Error>();
  let isReleased = false;
  const client = new pg.Client({ connectionString: url, application_name: "sitewright", keepAlive: true });
  client.on("error", lost.resolve);
  client.on("end", () => {
    if (!isReleased) lost.resolve(new Error("The connection that holds the executor's lock ended"));
  });
  await client.connect();
  await client.query("select pg_advisory_lock($1)", [lockKey(executorId)]);
  return {
    lost: lost.promise,
    release: async () => {
      isReleased = true;
      await client.end();
    },
  };
}

/**
 * Calls `work` while holding the lock of another executor, so that only one process takes over from it. False,
 * without calling, where that executor lives or somebody takes over already.
 */
export async function whileDead(pool: pg.Pool, executorId: string, work: () => Promise<void>): Promise<boolean> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    const { rows } = await client.query<{ free: boolean }>("select pg_try_advisory_lock($1) as free", [
      lockKey(executorId),
    ]);
    if (rows[0]?.free !== true) return false;
    try {
      await work();
    } finally {
      await client.query("select pg_advisory_unlock($1)", [lockKey(executorId)]);
    }
    return true;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    throw failure;
  } finally {
    // A connection that failed may still hold the lock: it is ended rather than given back.
    client.release(failure);
  }
}
