/**
 * Runs pieces of work at the same time. If one fails, aborts the others, waits until they have ended, and rejects with
 * the first error. So no work of a failed step goes on in the background.
 */
export async function inParallel(
  signal: AbortSignal,
  work: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  const failed = new AbortController();
  const failures: unknown[] = [];
  const running = work.map(async (piece) => {
    try {
      await piece(AbortSignal.any([signal, failed.signal]));
    } catch (error) {
      failures.push(error);
      failed.abort(error);
    }
  });
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
}
