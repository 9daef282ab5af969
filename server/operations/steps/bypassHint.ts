/** Adds a hint to the error of a required backup: how to continue without it. */
import { isTransient, publicReason } from "../engine/failures.ts";
import { StepFailure } from "../engine/operation.ts";

/** Runs `work`. If it fails, appends `bypassHint`, a sentence about `without_backup`, to the error message. */
export async function withBypassHint(
  {
    operationId,
    signal,
    bypassHint,
  }: { readonly operationId: string; readonly signal: AbortSignal; readonly bypassHint: string },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (signal.aborted) throw error;
    const { text } = publicReason(error, operationId);
    throw new StepFailure(`${text} ${bypassHint}`, { cause: error, isTransient: isTransient(error) });
  }
}
