/**
 * The control processes that use a database. Each of them holds the same shared advisory lock on a connection that it keeps open, so
 * PostgreSQL itself notices when one ends, however that happens, and no clock is needed.
 */
import type { ClientBase, Pool } from "pg";

/** An arbitrary number that no other advisory lock in this database uses. */
const presenceLock = 5_170_419_002;

/** Counts the process of this connection from now on, until the connection ends. */
export async function announceControlProcess(client: ClientBase): Promise<void> {
  await client.query("select pg_advisory_lock_shared($1)", [presenceLock]);
}

/** Returns the number of control processes, at least one. */
async function countControlProcesses(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>({
    name: "count-control-processes",
    text: `select count(*)::int as count from pg_locks
      where locktype = 'advisory' and mode = 'ShareLock' and granted and objsubid = 1
        and database = (select oid from pg_database where datname = current_database())
        and (classid::bigint << 32 | objid::bigint) = $1`,
    values: [presenceLock],
  });
  return Math.max(1, rows[0]?.count ?? 1);
}

export interface ControlProcessCount {
  /** The number at the last count. */
  current(): number;
  update(): Promise<void>;
}

/** Counts the control processes at once; later only when told to. */
export async function openControlProcessCount(pool: Pool): Promise<ControlProcessCount> {
  let count = await countControlProcesses(pool);
  return {
    current: () => count,
    update: async () => {
      count = await countControlProcesses(pool);
    },
  };
}
