/** Starts work while it is still being checked whether it is allowed. */

/**
 * Does the work while `allowed` is found out. Where that rejects, the signal that the work is given is aborted, its end is waited
 * for, and the rejection passed on.
 */
export async function speculatively(
  allowed: Promise<void>,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const refused = new AbortController();
  const working = work(AbortSignal.any([signal, refused.signal]));
  // Heard of below, unless it was not allowed.
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
