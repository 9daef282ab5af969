/** Starts a part again whenever it ends, sooner after a single accident and later the more often it happens. */
import { setTimeout as delay } from "node:timers/promises";
import { type Ended, howItEnded, lastWords, type Part, type Run } from "./part.ts";

export interface Kept {
  /** The run of now, or null while there is none. */
  current(): Run | null;
  /** Ends the part for good. */
  stop(): Promise<void>;
  /** Ends the part for good and at once. */
  kill(): void;
}

export interface KeepOptions {
  /** Tells the person. */
  readonly report: (sentence: string) => void;
  /** Called after each start that succeeded, the first included. */
  readonly started?: (run: Run) => void;
  /** How long to wait before the given restart in a row (0: the first). Milliseconds. */
  readonly backOff?: (restart: number) => number;
}

/** A run that lasted this long was no part of a series of accidents. */
const steadyMs = 30_000;
const longestWaitMs = 10_000;
const firstAttempts = 3;

export const usualBackOff = (restart: number): number =>
  restart === 0 ? 0 : Math.min(longestWaitMs, 125 * 2 ** restart);

/** Resolves when the part runs. Rejects if it doesn't come up at all in three attempts: then a restart won't cure it. */
export async function keepRunning(part: Part, options: KeepOptions): Promise<Kept> {
  const backOff = options.backOff ?? usualBackOff;
  const stopping = new AbortController();
  let run: Run | null = await firstRun(part, backOff, stopping.signal);
  options.started?.(run);
  const watched = watch();

  async function watch(): Promise<void> {
    let restarts = 0;
    while (run !== null) {
      const since = Date.now();
      const ended = await run.exited;
      run = null;
      restarts = Date.now() - since > steadyMs ? 0 : restarts;
      while (run === null && !stopping.signal.aborted) {
        options.report(endSentence(part, ended, backOff(restarts)));
        run = await again(backOff(restarts++));
      }
    }
  }

  async function again(wait: number): Promise<Run | null> {
    try {
      await delay(wait, undefined, { signal: stopping.signal });
      const next = await part.start();
      if (stopping.signal.aborted) {
        await next.stop();
        return null;
      }
      options.report(`${part.name} runs again.`);
      options.started?.(next);
      return next;
    } catch (error) {
      if (!stopping.signal.aborted) {
        options.report(`${part.name} did not start. ${messageOf(error)}`);
      }
      return null;
    }
  }

  return {
    current: () => run,
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

async function firstRun(part: Part, backOff: (restart: number) => number, signal: AbortSignal): Promise<Run> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await part.start();
    } catch (error) {
      if (attempt === firstAttempts) {
        throw new Error(`${part.name} did not start, in ${attempt} attempts. ${messageOf(error)}`, { cause: error });
      }
      await delay(backOff(attempt), undefined, { signal });
    }
  }
}

function endSentence(part: Part, ended: Ended, wait: number): string {
  const when = wait === 0 ? "now" : `in ${(wait / 1000).toFixed(1)} s`;
  return `${part.name} ended (${howItEnded(ended)}) and is started again ${when}.${lastWords(ended.lastWords, part.logPath)}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
