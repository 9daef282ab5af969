/**
 * Starts work while its permission check is still running. If the check rejects, aborts the work, waits until it has
 * ended, and rejects with the check's error.
 */
export async function speculatively(
  allowed: Promise<void>,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const refused = new AbortController();
  const working = work(AbortSignal.any([signal, refused.signal]));
  // Awaited below; prevents an unhandled rejection until then.
  working.catch(() => undefined);
  try {
    await allowed;
  } catch (error) {
    refused.abort(error);
    await working.catch(() => undefined);
    throw error;
  }
  await working;
}
