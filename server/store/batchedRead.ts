/**
 * Reads rows by id, many with one statement.
 *
 * A round trip to the database costs more than reading a row. So while statements are running, the ids of further reads are
 * collected, and the next statement reads all of them. A read never waits for another one to arrive, and always sees what was
 * committed before it was asked for.
 */

/** Reads the rows with these ids, in any order. */
type ReadRows<Row> = (ids: readonly string[]) => Promise<readonly Row[]>;

/** Returns the row with this id, or null. */
export type BatchedRead<Row> = (id: string) => Promise<Row | null>;

/** Statements of a kind that run at the same time. */
const maxRunning = 2;
const maxIds = 100;

interface Waiting<Row> {
  readonly id: string;
  readonly resolve: (row: Row | null) => void;
  readonly reject: (error: unknown) => void;
}

export function makeBatchedRead<Row extends { readonly id: string }>(readRows: ReadRows<Row>): BatchedRead<Row> {
  const waiting: Waiting<Row>[] = [];
  let running = 0;
  let isScheduled = false;

  /** Once for all reads of this turn of the event loop. */
  function schedule(): void {
    if (isScheduled || running >= maxRunning || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      void runNext();
    });
  }

  async function runNext(): Promise<void> {
    const batch = waiting.splice(0, maxIds);
    running += 1;
    schedule();
    try {
      const rows = await readRows([...new Set(batch.map(({ id }) => id))]);
      const found = new Map(rows.map((row) => [row.id, row]));
      for (const { id, resolve } of batch) resolve(found.get(id) ?? null);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      running -= 1;
      schedule();
    }
  }

  return (id) =>
    new Promise((resolve, reject) => {
      waiting.push({ id: id.toLowerCase(), resolve, reject });
      schedule();
    });
}
