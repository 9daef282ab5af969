/** Trying out beside other work, which is not to be done anew for what passes by itself. */
import { attempt, quickPace } from "./attempt.ts";
import { isRefusal } from "./failures.ts";
import { StepFailure } from "./operation.ts";
import type { Candidate, TryOut } from "./trial.ts";

/** As `tryOut`, but what passes by itself is waited for. Rejects with `StepFailure`. */
export async function patientlyTryOut(
  tryOut: TryOut,
  candidate: Candidate,
  deadlineSeconds: number,
  stop: AbortSignal,
): Promise<boolean> {
  let isKnown = false;
  const error = await attempt(
    async (signal) => {
      isKnown = await tryOut(candidate, signal);
    },
    { deadlineSeconds, pace: quickPace, stop },
  );
  if (error === null) return isKnown;
  const message = error instanceof StepFailure ? error.message : `${candidate.what} could not be tried out.`;
  throw new StepFailure(message, { cause: error, isRefusal: isRefusal(error) });
}
