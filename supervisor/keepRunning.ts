/** Restarts a service that crashes, with exponential back-off. */
import { setTimeout as delay } from "node:timers/promises";
import { describeExit, type Exit, outputTail, type Run, type Service } from "./service.ts";

export interface SupervisedService {
  /** The current run, or null between runs. */
  current(): Run | null;
  /** Prevents restarts from now on. */
  letEnd(): void;
  /** Stops the service gracefully, without a restart. */
  stop(): Promise<void>;
  /** Kills the service, without a restart. */
  kill(): void;
}

interface KeepOptions {
  /** Shows a message to the user. */
  readonly report: (sentence: string) => void;
  /** Called after each successful start, including the first. */
  readonly started?: (run: Run) => void;
  /** Called instead of a restart if the service was asked to stop: it exited with code 0 or by SIGTERM. */
  readonly ended?: () => void;
  /** Delay before a restart, given the number of earlier restarts in a row. Milliseconds. */
  readonly backOff?: (restarts: number) => number;
}

/** A run of at least this length resets the back-off. */
const stableMs = 30_000;
const maxDelayMs = 10_000;
const startAttempts = 3;

export const defaultBackOff = (restarts: number): number =>
  restarts === 0 ? 0 : Math.min(maxDelayMs, 125 * 2 ** restarts);

/** Resolves when the service is ready. Rejects after three failed attempts, because more are unlikely to help. */
export async function keepRunning(service: Service, options: KeepOptions): Promise<SupervisedService> {
  const backOff = options.backOff ?? defaultBackOff;
  const stopping = new AbortController();
  let run: Run | null = await firstRun(service, backOff, stopping.signal);
  options.started?.(run);
  const watched = watch();

  async function watch(): Promise<void> {
    let restarts = 0;
    while (run !== null) {
      const since = Date.now();
      const exit = await run.exited;
      run = null;
      if (!stopping.signal.aborted && wasToldToEnd(exit)) {
        stopping.abort();
        options.ended?.();
      }
      restarts = Date.now() - since > stableMs ? 0 : restarts;
      while (run === null && !stopping.signal.aborted) {
        options.report(restartMessage(service, exit, backOff(restarts)));
        run = await restart(backOff(restarts++));
      }
    }
  }

  async function restart(delayMs: number): Promise<Run | null> {
    try {
      await delay(delayMs, undefined, { signal: stopping.signal });
      const next = await service.start();
      if (stopping.signal.aborted) {
        await next.stop();
        return null;
      }
      options.report(`${service.name} is running again.`);
      options.started?.(next);
      return next;
    } catch (error) {
      if (!stopping.signal.aborted) {
        options.report(`${service.name} did not start. ${messageOf(error)}`);
      }
      return null;
    }
  }

  return {
    current: () => run,
    letEnd: () => stopping.abort(),
    async stop() {
      stopping.abort();
      await run?.stop();
      await watched;
    },
    kill() {
      stopping.abort();
      run?.kill();
    },
  };
}

async function firstRun(service: Service, backOff: (restarts: number) => number, signal: AbortSignal): Promise<Run> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await service.start();
    } catch (error) {
      if (attempt === startAttempts) {
        throw new Error(`${service.name} did not start in ${attempt} attempts. ${messageOf(error)}`, { cause: error });
      }
      await delay(backOff(attempt), undefined, { signal });
    }
  }
}

function wasToldToEnd({ code, signal }: Exit): boolean {
  return code === 0 || signal === "SIGTERM";
}

function restartMessage(service: Service, exit: Exit, delayMs: number): string {
  const when = delayMs === 0 ? "now" : `in ${(delayMs / 1000).toFixed(1)} s`;
  return `${service.name} ended (${describeExit(exit)}). Restarting ${when}.${outputTail(exit.lastLines, service.logPath)}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
