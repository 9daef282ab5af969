/** Workers that are warm and have no environment yet. */
import type { BootOrder } from "../worker/messages.ts";
import { WorkerProcess } from "../worker/process.ts";

/**
 * Spares are made when for so long none was taken: making one beside a page makes that page half as slow again, on
 * two processors, and a script that creates site after site is served sooner from what is there.
 */
const refillMilliseconds = 2000;
/** Where there is none left, whoever comes next waits for the new one anyway. */
const refillEmptyMilliseconds = 250;
const failurePauseMilliseconds = 5000;

export interface Spares {
  /** The readiest spare, or null where there is none, not even one that is booting. */
  take(): WorkerProcess | null;
  /** How many are ready. */
  count(): number;
  close(): Promise<void>;
}

export function createSpares(options: {
  readonly wanted: number;
  readonly order: () => Promise<BootOrder>;
  readonly deadlineSeconds: number;
  /** Whether so many wait for their first page already that a spare would only take the processor from them. */
  readonly isCrowded: () => boolean;
  /** Told why a spare could not be made. */
  readonly onFailure: (error: unknown) => void;
}): Spares {
  const ready: WorkerProcess[] = [];
  const booting: WorkerProcess[] = [];
  let timer: NodeJS.Timeout | null = null;
  let isFilling = false;
  let isClosed = false;

  function remove(worker: WorkerProcess): void {
    for (const list of [ready, booting]) {
      const index = list.indexOf(worker);
      if (index >= 0) list.splice(index, 1);
    }
  }

  async function boot(): Promise<void> {
    const order = await options.order();
    if (isClosed) return;
    const worker = new WorkerProcess(order, options.deadlineSeconds);
    booting.push(worker);
    void worker.exited.then(() => {
      const wasOurs = ready.includes(worker) || booting.includes(worker);
      remove(worker);
      if (wasOurs) refill(failurePauseMilliseconds);
    });
    await worker.ready;
    if (!booting.includes(worker)) return;
    remove(worker);
    ready.push(worker);
  }

  /** One after the other: two at once would only be ready later, both of them. */
  async function fill(): Promise<void> {
    while (!isClosed && ready.length + booting.length < options.wanted) {
      try {
        await boot();
      } catch (error) {
        if (!isClosed) options.onFailure(error);
        return;
      }
    }
  }

  function refill(milliseconds: number): void {
    if (isClosed || timer !== null || isFilling) return;
    timer = setTimeout(() => {
      timer = null;
      if (options.isCrowded()) return refill(refillMilliseconds);
      isFilling = true;
      void fill().finally(() => {
        isFilling = false;
        if (ready.length + booting.length < options.wanted) refill(failurePauseMilliseconds);
      });
    }, milliseconds);
    timer.unref();
  }

  /** Forgets a refill that has not begun: `refill` then starts counting again. */
  function postpone(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  }

  refill(0);
  return {
    take: () => {
      const worker = ready.shift() ?? booting.shift() ?? null;
      if (worker !== null) postpone();
      refill(ready.length === 0 ? refillEmptyMilliseconds : refillMilliseconds);
      return worker;
    },
    count: () => ready.length,
    close: async () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      const all = [...ready, ...booting];
      for (const worker of all) worker.kill("unavailable");
      await Promise.all(all.map((worker) => worker.exited));
    },
  };
}
