/**
 * Trials that run in parallel with other work of a step. They retry on their own, so that the other work is not
 * repeated.
 */
import type { LoadPage } from "../../screenshots/pageProxy.ts";
import { attempt, quickBackoff, Stopping } from "../engine/attempt.ts";
import { failureKindOf } from "../engine/failures.ts";
import { StepFailure } from "../engine/operation.ts";
import type { Candidate, RunTrial } from "./trial.ts";

/** Retries transient errors until the deadline. Rejects with the last error, or with `Stopping`. */
async function withRetries<T>(
  work: (signal: AbortSignal) => Promise<T>,
  deadlineSeconds: number,
  stop: AbortSignal,
): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const error = await attempt(async (signal) => resolve(await work(signal)), {
    deadlineSeconds,
    backoff: quickBackoff,
    stop,
  });
  if (error !== null) throw error;
  return promise;
}

/** Like `runTrial`, but retries transient errors. Rejects with `StepFailure`. */
export async function runTrialWithRetries(
  runTrial: RunTrial,
  candidate: Candidate,
  deadlineSeconds: number,
  stop: AbortSignal,
): Promise<boolean> {
  return withRetries((signal) => runTrial(candidate, signal), deadlineSeconds, stop).catch((cause: unknown) => {
    if (cause instanceof Stopping) throw cause;
    const message = cause instanceof StepFailure ? cause.message : `${candidate.what} could not be tried out.`;
    throw new StepFailure(message, { cause, kind: failureKindOf(cause) });
  });
}

/** Like `load`, but retries transient errors. */
export function loadWithRetries(load: LoadPage, deadlineSeconds: number): LoadPage {
  return (path, stop) => withRetries((signal) => load(path, signal), deadlineSeconds, stop);
}
