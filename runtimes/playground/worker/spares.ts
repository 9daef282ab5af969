/**
 * Spare workers, which have no environment yet. A spare first boots, and is then warmed up with pages of the template.
 * While sites are being created, spares only boot, one in advance, and only if no warm spare is left: anything more
 * would take CPU time from the pages that spares are meant to speed up. In quiet periods spares are warmed up until
 * there are enough.
 */
import { runAsSpare } from "../../processor/companies.ts";
import type { WarmUp } from "../templates/warmUp.ts";
import type { BootOrder } from "./messages.ts";
import { WorkerProcess } from "./process.ts";

/** A period is quiet after this time without a taken spare. */
const quietMilliseconds = 2000;
const recheckMilliseconds = 100;
const failurePauseMilliseconds = 5000;

export interface Spares {
  /** Takes the spare that is closest to being warm, even if it is still booting; null if there is none. */
  take(): WorkerProcess | null;
  /** Number of warm spares. */
  count(): number;
  close(): Promise<void>;
}

export interface SparesOptions {
  readonly wanted: number;
  readonly order: () => Promise<BootOrder>;
  readonly warmUp: () => Promise<WarmUp>;
  readonly deadlineSeconds: number;
  /** Whether so many workers render their first page that creating a spare would take CPU time from them. */
  readonly isCrowded: () => boolean;
  /** Receives the error if a spare could not be created. */
  readonly onFailure: (error: unknown) => void;
}

export function createSpares(options: SparesOptions): Spares {
  /** Spares by stage, the most advanced first. */
  const stages: Record<"warm" | "booted" | "booting", WorkerProcess[]> = { warm: [], booted: [], booting: [] };
  const lists: readonly WorkerProcess[][] = [stages.warm, stages.booted, stages.booting];
  const taken = new WeakSet<WorkerProcess>();
  let lastTaken = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;
  let isWorking = false;
  let isClosed = false;

  const all = () => lists.flat();
  const isQuiet = () => performance.now() - lastTaken >= quietMilliseconds;

  /** Removes a spare. Returns false if it was already removed or taken. */
  function remove(worker: WorkerProcess): boolean {
    const list = lists.find((workers) => workers.includes(worker));
    list?.splice(list.indexOf(worker), 1);
    return list !== undefined;
  }

  /** Moves a spare to the next stage when `done` resolves. Ignores errors of a worker that was taken meanwhile. */
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
    void worker.started.then(runAsSpare);
    worker.yieldToOthers();
    stages.booting.push(worker);
    void worker.exited.then(() => {
      if (remove(worker)) workIn(failurePauseMilliseconds);
    });
    await promote(worker, worker.ready, stages.booted);
  }

  async function warm(worker: WorkerProcess): Promise<void> {
    const template = await options.warmUp();
    // A worker that has got an environment meanwhile must not see the template.
    if (stages.booted.includes(worker)) await promote(worker, worker.warmUp(template), stages.warm);
  }

  /** Returns the next step to do now, or null. */
  function nextStep(): (() => Promise<void>) | null {
    if (isClosed || options.isCrowded()) return null;
    const [booted] = stages.booted;
    if (booted !== undefined) return isQuiet() ? () => warm(booted) : null;
    const isNeeded = isQuiet() || stages.warm.length === 0;
    return isNeeded && all().length < options.wanted ? boot : null;
  }

  /** Runs one step at a time: two at once would both take longer. */
  async function work(): Promise<void> {
    isWorking = true;
    try {
      for (let step = nextStep(); step !== null; step = nextStep()) await step();
      if (stages.warm.length < options.wanted) workIn(recheckMilliseconds);
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
      worker?.raisePriority();
      lastTaken = performance.now();
      workIn(recheckMilliseconds);
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
