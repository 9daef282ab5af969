/**
 * Runs pieces of work at the same time and settles when all of them have: where one fails, the others' signal is aborted,
 * and once they have ended too, this rejects with the first failure. So nothing goes on behind a step that has failed.
 */
export async function atOnce(
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
