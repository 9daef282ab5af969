/** Trials and checks that run beside other work, and retry passing problems so that the work needn't be repeated. */
import type { SeePage } from "../../pictures/pageProxy.ts";
import { attempt, quickPace, Stopping } from "../engine/attempt.ts";
import { kindOf } from "../engine/failures.ts";
import { StepFailure } from "../engine/operation.ts";
import type { Candidate, TryOut } from "./trial.ts";

/** Rejects with the error for which it was given up, or with `Stopping`. */
async function patiently<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  deadlineSeconds: number,
  stop: AbortSignal,
): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const error = await attempt(async (signal) => resolve(await ask(signal)), { deadlineSeconds, pace: quickPace, stop });
  if (error !== null) throw error;
  return promise;
}

/** As `tryOut`, but what passes by itself is waited for. Rejects with `StepFailure`. */
export async function patientlyTryOut(
  tryOut: TryOut,
  candidate: Candidate,
  deadlineSeconds: number,
  stop: AbortSignal,
): Promise<boolean> {
  return patiently((signal) => tryOut(candidate, signal), deadlineSeconds, stop).catch((cause: unknown) => {
    if (cause instanceof Stopping) throw cause;
    const message = cause instanceof StepFailure ? cause.message : `${candidate.what} could not be tried out.`;
    throw new StepFailure(message, { cause, kind: kindOf(cause) });
  });
}

/** As `see`, but what passes by itself is waited for. */
export function patientlySee(see: SeePage, deadlineSeconds: number): SeePage {
  return (path, stop) => patiently((signal) => see(path, signal), deadlineSeconds, stop);
}
