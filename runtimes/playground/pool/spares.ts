/**
 * Workers that have no environment yet. Making one has two parts: it boots, and then it is warmed up by pages of the
 * template. While sites are being created only the first is done, one ahead, and only where no warm spare is left:
 * all else would take the processors from the very pages for which spares are there. Once it is calm, spares are
 * warmed up, until there are as many as wanted.
 */
import type { WarmUp } from "../templates/warmUp.ts";
import type { BootOrder } from "../worker/messages.ts";
import { WorkerProcess } from "../worker/process.ts";

/** It is calm when for so long no spare was wanted. */
const calmMilliseconds = 2000;
const lookAgainMilliseconds = 100;
const failurePauseMilliseconds = 5000;

export interface Spares {
  /** The readiest spare, or null if there is none, not even one that is booting. */
  take(): WorkerProcess | null;
  /** How many are warm. */
  count(): number;
  close(): Promise<void>;
}

export interface SparesOptions {
  readonly wanted: number;
  readonly order: () => Promise<BootOrder>;
  readonly warmUp: () => Promise<WarmUp>;
  readonly deadlineSeconds: number;
  /** Whether so many wait for their first page that a spare would only take the processor from them. */
  readonly isCrowded: () => boolean;
  /** Told why a spare could not be made. */
  readonly onFailure: (error: unknown) => void;
}

export function createSpares(options: SparesOptions): Spares {
  /** From the readiest to the one that has just begun. */
  const stages: Record<"warm" | "booted" | "booting", WorkerProcess[]> = { warm: [], booted: [], booting: [] };
  const lists: readonly WorkerProcess[][] = [stages.warm, stages.booted, stages.booting];
  const taken = new WeakSet<WorkerProcess>();
  let lastTaken = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;
  let isWorking = false;
  let isClosed = false;

  const all = () => lists.flat();
  const isCalm = () => performance.now() - lastTaken >= calmMilliseconds;

  /** True if it was one of ours until now. */
  function remove(worker: WorkerProcess): boolean {
    const list = lists.find((workers) => workers.includes(worker));
    list?.splice(list.indexOf(worker), 1);
    return list !== undefined;
  }

  /** To the next stage, when that is done. What becomes of a worker that was taken meanwhile is not our business. */
  async function promote(worker: WorkerProcess, done: Promise<void>, stage: WorkerProcess[]): Promise<void> {
    await done.catch((error: unknown) => {
      if (!taken.has(worker)) throw error;
    });
    if (remove(worker)) stage.push(worker);
  }

  async function boot(): Promise<void> {
    const order = await options.order();
    if (isClosed) return;
    const worker = new WorkerProcess(order, options.deadlineSeconds);
    worker.yieldToOthers();
    stages.booting.push(worker);
    void worker.exited.then(() => {
      if (remove(worker)) workIn(failurePauseMilliseconds);
    });
    await promote(worker, worker.ready, stages.booted);
  }

  async function warm(worker: WorkerProcess): Promise<void> {
    const template = await options.warmUp();
    // Who has an environment by now must not see the template any more.
    if (stages.booted.includes(worker)) await promote(worker, worker.warmUp(template), stages.warm);
  }

  /** What is to be done now, or null. */
  function nextStep(): (() => Promise<void>) | null {
    if (isClosed || options.isCrowded()) return null;
    const [booted] = stages.booted;
    if (booted !== undefined) return isCalm() ? () => warm(booted) : null;
    const isMissed = isCalm() || stages.warm.length === 0;
    return isMissed && all().length < options.wanted ? boot : null;
  }

  /** One step after the other: two at once would only be done later, both of them. */
  async function work(): Promise<void> {
    isWorking = true;
    try {
      for (let step = nextStep(); step !== null; step = nextStep()) await step();
      if (stages.warm.length < options.wanted) workIn(lookAgainMilliseconds);
    } catch (error) {
      if (!isClosed) options.onFailure(error);
      workIn(failurePauseMilliseconds);
    } finally {
      isWorking = false;
    }
  }

  function workIn(milliseconds: number): void {
    if (isClosed || timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      if (!isWorking) void work();
    }, milliseconds);
    timer.unref();
  }

  workIn(0);
  return {
    take: () => {
      const worker = lists.find((workers) => workers.length > 0)?.shift() ?? null;
      if (worker !== null) taken.add(worker);
      worker?.comeForward();
      lastTaken = performance.now();
      workIn(lookAgainMilliseconds);
      return worker;
    },
    count: () => stages.warm.length,
    close: async () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      const ending = all();
      for (const worker of ending) worker.kill("unavailable");
      await Promise.all(ending.map((worker) => worker.exited));
    },
  };
}
