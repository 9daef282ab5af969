/** Retries: of a step until its deadline (`attempt`), and of work that must succeed in the end (`retryUntilDone`). */
import { setDeadline } from "@sitewright/runtimes/deadline.ts";
import { DeadlineExceeded, isTransient } from "./failures.ts";

export interface Backoff {
  /** The pause after the first failure. It doubles after each further failure. */
  readonly initialDelayMilliseconds: number;
  readonly maxDelayMilliseconds: number;
  /** How long to wait after the deadline for a step that has not ended yet. */
  readonly graceMilliseconds: number;
}

/** For transient errors within a step: short pauses. */
export const quickBackoff: Backoff = {
  initialDelayMilliseconds: 50,
  maxDelayMilliseconds: 2_000,
  graceMilliseconds: 2_000,
};
/** For work that must succeed in the end: long pauses. */
export const persistentBackoff: Backoff = {
  initialDelayMilliseconds: 1_000,
  maxDelayMilliseconds: 60_000,
  graceMilliseconds: 2_000,
};

/** The process is shutting down. The outcome must not be recorded: the next process continues. */
export class Stopping extends Error {
  override readonly name = "Stopping";
}

export interface AttemptOptions {
  /** In running time, see `setDeadline`. */
  readonly deadlineSeconds: number;
  readonly backoff: Backoff;
  /** Aborted on shutdown. */
  readonly stop: AbortSignal;
  /** Receives work that is still running after the grace period. */
  readonly onAbandoned?: (work: Promise<unknown>) => void;
}

/**
 * Retries transient errors until the deadline. Returns null if the work succeeded, or the error that ended it.
 * Rejects only with `Stopping`.
 */
export async function attempt(
  work: (signal: AbortSignal) => Promise<void>,
  options: AttemptOptions,
): Promise<Error | null> {
  const deadline = new AbortController();
  const cancel = setDeadline(options.deadlineSeconds, () => deadline.abort());
  const signal = AbortSignal.any([deadline.signal, options.stop]);
  try {
    for (let tries = 0; ; tries++) {
      const error = await waitForWork(work(signal), signal, options);
      if (options.stop.aborted) throw new Stopping();
      if (error === null) return null;
      if (deadline.signal.aborted) return isAbort(error) ? new DeadlineExceeded(options.deadlineSeconds) : error;
      if (!isTransient(error)) return error;
      await pause(tries, options.backoff, signal);
      if (options.stop.aborted) throw new Stopping();
      // The error is more helpful than the fact that the time is up.
      if (deadline.signal.aborted) return error;
    }
  } finally {
    cancel();
  }
}

/** Returns the work's error or null. Abandons the work when the grace period after the signal is over. */
async function waitForWork(work: Promise<void>, signal: AbortSignal, options: AttemptOptions): Promise<Error | null> {
  const abandoned = Promise.withResolvers<Error>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => {
      options.onAbandoned?.(work);
      abandoned.resolve(new DeadlineExceeded(options.deadlineSeconds));
    }, options.backoff.graceMilliseconds);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const outcome = work.then(() => null, toError);
  try {
    return await Promise.race([outcome, abandoned.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    clearTimeout(timer);
  }
}

/** Repeats `work` until it succeeds, and calls `onFailure` with each error. Rejects only with `Stopping`. */
export async function retryUntilDone<T>(
  work: () => Promise<T>,
  options: { readonly backoff: Backoff; readonly stop: AbortSignal; readonly onFailure: (error: Error) => void },
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (options.stop.aborted || error instanceof Stopping) throw new Stopping();
      options.onFailure(toError(error));
      await pause(tries, options.backoff, options.stop);
      if (options.stop.aborted) throw new Stopping();
    }
  }
}

/** Waits as long as `backoff` says after this number of failures, or until the signal is aborted. */
export async function pause(failures: number, backoff: Backoff, signal: AbortSignal): Promise<void> {
  const milliseconds = Math.min(
    backoff.initialDelayMilliseconds * 2 ** Math.min(failures, 20),
    backoff.maxDelayMilliseconds,
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
  return error instanceof DeadlineExceeded || error.name === "AbortError" || error.name === "TimeoutError";
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
