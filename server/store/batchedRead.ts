/**
 * Reads rows by id, many with one statement.
 *
 * A round trip to the database costs more than reading a row. So while statements are running, the ids of further reads are
 * collected, and the next statement reads all of them. A read never waits for another one to arrive, and always sees what was
 * committed before it was asked for. Reads of one row share it, and are the same object.
 */

/** Reads the rows with these ids, in any order. */
type ReadRows<Row> = (ids: readonly string[]) => Promise<readonly Row[]>;

/** Returns the row with this id, or null. */
export type BatchedRead<Row> = (id: string) => Promise<Row | null>;

/** Statements of a kind that run at the same time. */
const maxRunning = 2;
const maxIds = 100;

interface Waiting<Row> {
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
}

export function makeBatchedRead<Row extends { readonly id: string }>(readRows: ReadRows<Row>): BatchedRead<Row> {
  const waiting = new Map<string, Waiting<Row>[]>();
  let running = 0;
  let isScheduled = false;

  /** Once for all reads of this turn of the event loop. */
  function schedule(): void {
    if (isScheduled || running >= maxRunning || waiting.size === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void runNext();
    });
  }

  async function runNext(): Promise<void> {
    const batch = new Map(waiting.entries().take(maxIds));
    for (const id of batch.keys()) waiting.delete(id);
    running += 1;
    schedule();
    try {
      const rows = await readRows([...batch.keys()]);
      const found = new Map(rows.map((row) => [row.id, row]));
      for (const [id, reads] of batch) for (const { resolve } of reads) resolve(found.get(id) ?? null);
    } catch (error) {
      for (const { reject } of [...batch.values()].flat()) reject(error);
    } finally {
      running -= 1;
      schedule();
    }
  }

  return (id) =>
    new Promise((resolve, reject) => {
      const reads = waiting.get(id);
      if (reads === undefined) waiting.set(id, [{ resolve, reject }]);
      else reads.push({ resolve, reject });
      schedule();
    });
}
