/**
 * Tells whether anything in the database has changed.
 *
 * PostgreSQL describes a snapshot by the numbers of the transactions that it does not see. Numbers only increase, so two equal
 * snapshots see the same rows, and nothing was committed between them, by any process. Asking for one touches no table, and is the
 * cheapest statement there is; all that ask at the same moment share it.
 */
import type { Pool } from "pg";

/** Receives a snapshot, or null if there is none to compare. `failure`: why the database could not be asked. */
type SnapshotListener = (snapshot: string | null, failure?: unknown) => void;

export interface Snapshots {
  /** The last one that was read, or null. What is read from now on is at least as new. */
  latest(): string | null;
  /** Calls the listener with a snapshot that sees all that was committed before this call. */
  read(listener: SnapshotListener): void;
}

interface SnapshotRow {
  readonly snapshot: string;
}

const statement = { name: "snapshot", text: "select pg_current_snapshot()::text as snapshot" };

export function makeSnapshots(pool: Pool): Snapshots {
  let latest: string | null = null;
  let waiting: SnapshotListener[] = [];
  let isBusy = false;
  /** A server that was restored from a backup uses numbers again. It has only new connections. */
  let connections = 0;
  pool.on("connect", () => {
    connections += 1;
  });

  async function ask(): Promise<string | null> {
    const before = connections;
    const { rows } = await pool.query<SnapshotRow>(statement);
    return connections === before ? `${connections} ${rows[0]?.snapshot}` : null;
  }

  async function run(): Promise<void> {
    const listeners = waiting;
    waiting = [];
    try {
      latest = await ask();
      for (const listener of listeners) listener(latest);
    } catch (error) {
      for (const listener of listeners) listener(null, error);
    }
    isBusy = false;
    schedule();
  }

  /** One statement runs at a time, for all that were waiting when it began. */
  function schedule(): void {
    if (isBusy || waiting.length === 0) return;
    isBusy = true;
    setImmediate(run);
  }

  return {
    latest: () => latest,
    read(listener) {
      waiting.push(listener);
      schedule();
    },
  };
}
