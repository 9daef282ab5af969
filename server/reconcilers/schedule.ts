/** Runs reconcilers: each at its own interval, one run at a time. A failed run is retried. */
import type { Logger } from "pino";

export interface Reconciler {
  readonly name: string;
  /** What it does, as the start of a log message: `Checking for updates`. */
  readonly work: string;
  readonly everySeconds: number;
  /** Interval after a failure. */
  readonly retrySeconds: number;
  run(): Promise<void>;
}

interface Schedule {
  /** Starts no further runs and waits for the current ones. */
  stop(): Promise<void>;
}

/** Runs each reconciler at once and then repeatedly. Of consecutive failures only the first is logged. */
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
