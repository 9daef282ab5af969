/** A backup that must be there before something is lost, and how to do without where it can't be made. */
import { isTransient, publicReason } from "../engine/failures.ts";
import { StepFailure } from "../engine/operation.ts";

/** Does what the backup needs. Where that fails, the reason also says `wayOut`: a sentence about `without_backup`. */
export async function tellingTheWayOut(
  {
    operationId,
    signal,
    wayOut,
  }: { readonly operationId: string; readonly signal: AbortSignal; readonly wayOut: string },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (signal.aborted) throw error;
    const { text } = publicReason(error, operationId);
    throw new StepFailure(`${text} ${wayOut}`, { cause: error, isTransient: isTransient(error) });
  }
}
