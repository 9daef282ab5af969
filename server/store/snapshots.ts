/**
 * Tells whether anything in the database has changed.
 *
 * PostgreSQL describes a snapshot by the numbers of the transactions that it does not see. Numbers only increase, so two equal
 * snapshots see the same rows, and nothing was committed between them, by any process. Asking for one touches no table and takes
 * PostgreSQL 20 microseconds, which all that ask at the same moment share.
 */
import type { Pool, PoolClient } from "pg";
import { repeatRead } from "./outages.ts";
import { askForSnapshot, snapshotStatement } from "./snapshotQuestion.ts";

/** Receives a snapshot, or null if it can't be compared with others. `failure`: why the database could not be asked. */
type SnapshotListener = (snapshot: string | null, failure?: unknown) => void;

export interface Snapshots {
  /** The last one that was read, or null. What is read from now on is at least as new. */
  latest(): string | null;
  /** Calls the listener with a snapshot that sees all that was committed before this call. */
  read(listener: SnapshotListener): void;
}

export function makeSnapshots(pool: Pool): Snapshots {
  let latest: string | null = null;
  let waiting: SnapshotListener[] = [];
  let isBusy = false;
  /** Kept as long as requests wait: taking one from the pool for each statement costs a quarter more. */
  let held: PoolClient | null = null;
  /** A server that has lost transactions uses their numbers again. It has only new connections. */
  let connections = 0;
  pool.on("connect", () => {
    connections += 1;
  });

  function release(isBroken: boolean): void {
    held?.release(isBroken);
    held = null;
  }

  async function query(): Promise<string> {
    held ??= await pool.connect();
    try {
      return await askForSnapshot(held);
    } catch (error) {
      release(true);
      throw error;
    }
  }

  async function ask(): Promise<string | null> {
    const before = connections;
    const snapshot = await repeatRead(snapshotStatement, query);
    return connections === before ? `${connections} ${snapshot}` : null;
  }

  async function run(): Promise<void> {
    const listeners = waiting;
    waiting = [];
    let failure: unknown;
    latest = await ask().catch((error: unknown) => {
      failure = error;
      return null;
    });
    // Those that arrived meanwhile have waited nearly as long, because their keys were known less than a second before.
    if (failure !== undefined) listeners.push(...waiting.splice(0));
    for (const listener of listeners) listener(latest, failure);
    isBusy = false;
    if (waiting.length === 0) release(false);
    else schedule();
  }

  /** One statement runs at a time. It begins after the requests that have arrived by now have been read from their connections. */
  function schedule(): void {
    if (isBusy) return;
    isBusy = true;
    setImmediate(() => setImmediate(run));
  }

  return {
    latest: () => latest,
    read(listener) {
      waiting.push(listener);
      schedule();
    },
  };
}
