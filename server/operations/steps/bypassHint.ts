/** A backup that must be there before something is lost, and how to do without where it can't be made. */
import { isTransient, publicReason } from "../engine/failures.ts";
import { StepFailure } from "../engine/operation.ts";

/** Does what the backup needs. Where that fails, the reason also says `bypassHint`: a sentence about `without_backup`. */
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
