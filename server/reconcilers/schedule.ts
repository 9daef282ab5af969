/** Runs reconcilers: each at its own period, one run at a time, whatever the run before came to. */
import type { Logger } from "pino";

export interface Reconciler {
  readonly name: string;
  /** What it does, as the beginning of a sentence in the log: `Checking for updates`. */
  readonly work: string;
  readonly everySeconds: number;
  /** After a failure it is run again sooner. */
  readonly retrySeconds: number;
  run(): Promise<void>;
}

export interface Schedule {
  /** Begins no further run and waits for those that are under way. */
  stop(): Promise<void>;
}

/** Runs each at once, then again and again. A failure is logged, and logged no more until there was a success. */
export function startReconcilers(reconcilers: readonly Reconciler[], log: Logger): Schedule {
  const loops = reconcilers.map((reconciler) => startLoop(reconciler, log));
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

function startLoop(reconciler: Reconciler, log: Logger): Schedule {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let isFailing = false;
  let current = Promise.resolve();

  async function run(): Promise<void> {
    try {
      await reconciler.run();
      isFailing = false;
    } catch (err) {
      if (!isFailing) log.warn({ err, reconciler: reconciler.name }, `${reconciler.work} failed and will be retried`);
      isFailing = true;
    }
    if (stopped) return;
    const seconds = isFailing ? reconciler.retrySeconds : reconciler.everySeconds;
    timer = setTimeout(begin, seconds * 1000);
  }

  function begin(): void {
    current = run();
  }

  begin();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
