/** One step, tried until it is done, has failed for good, or its time is up. */
import { DeadlinePassed, isTransient } from "./failures.ts";

export interface Pace {
  /** The first pause between two tries; each next one is twice as long. */
  readonly firstPauseMilliseconds: number;
  readonly longestPauseMilliseconds: number;
  /** How long after its deadline a step that ignores its signal is still waited for. */
  readonly graceMilliseconds: number;
}

/** Within a step: quickly, for what passes by itself. */
export const quickPace: Pace = {
  firstPauseMilliseconds: 50,
  longestPauseMilliseconds: 2_000,
  graceMilliseconds: 2_000,
};
/** For what must succeed in the end, whatever stands in its way. */
export const patientPace: Pace = {
  firstPauseMilliseconds: 1_000,
  longestPauseMilliseconds: 60_000,
  graceMilliseconds: 2_000,
};

/** The process ends: nothing of this is to be recorded, the next process goes on. */
export class Stopping extends Error {
  override readonly name = "Stopping";
}

export interface AttemptOptions {
  readonly deadlineSeconds: number;
  readonly pace: Pace;
  /** Aborted when the process ends. */
  readonly stop: AbortSignal;
  /** Receives work that goes on although it was abandoned. */
  readonly onLeftOver?: (work: Promise<unknown>) => void;
}

/** Null if the work was done; otherwise the error for which it was given up. Rejects with `Stopping` only. */
export async function attempt(
  work: (signal: AbortSignal) => Promise<void>,
  options: AttemptOptions,
): Promise<Error | null> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), options.deadlineSeconds * 1000);
  const signal = AbortSignal.any([deadline.signal, options.stop]);
  try {
    for (let tries = 0; ; tries++) {
      const error = await settle(work(signal), signal, options);
      if (options.stop.aborted) throw new Stopping();
      if (error === null) return null;
      if (deadline.signal.aborted) return isAbort(error) ? new DeadlinePassed(options.deadlineSeconds) : error;
      if (!isTransient(error)) return error;
      await pause(tries, options.pace, signal);
      if (options.stop.aborted) throw new Stopping();
      // What kept it from succeeding says more than that the time is up.
      if (deadline.signal.aborted) return error;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for the work, but no longer than the grace after the signal. */
async function settle(work: Promise<void>, signal: AbortSignal, options: AttemptOptions): Promise<Error | null> {
  const givenUp = Promise.withResolvers<Error>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => {
      options.onLeftOver?.(work);
      givenUp.resolve(new DeadlinePassed(options.deadlineSeconds));
    }, options.pace.graceMilliseconds);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const settled = work.then(() => null, toError);
  try {
    return await Promise.race([settled, givenUp.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
  }
}

/** Repeats `work` until it succeeds. `onFailure` hears of each error. Rejects with `Stopping` only. */
export async function insist<T>(
  work: () => Promise<T>,
  options: { readonly pace: Pace; readonly stop: AbortSignal; readonly onFailure: (error: Error) => void },
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (options.stop.aborted || error instanceof Stopping) throw new Stopping();
      options.onFailure(toError(error));
      await pause(tries, options.pace, options.stop);
      if (options.stop.aborted) throw new Stopping();
    }
  }
}

/** The pause after so many failures, or until the signal. */
export async function pause(failures: number, pace: Pace, signal: AbortSignal): Promise<void> {
  const milliseconds = Math.min(
    pace.firstPauseMilliseconds * 2 ** Math.min(failures, 20),
    pace.longestPauseMilliseconds,
  );
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end, { once: true });
  });
}

function isAbort(error: Error): boolean {
  return error instanceof DeadlinePassed || error.name === "AbortError" || error.name === "TimeoutError";
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
