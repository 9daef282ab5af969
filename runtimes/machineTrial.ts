/** Finds out what this machine allows, by trying it. A failure may be temporary, so only a success is final. */

/** How long a failure is believed. */
const pauseMilliseconds = 60_000;

interface MachineTrial<Found> {
  tryOut(): Promise<Found>;
  isSuccess(found: Found): boolean;
  /** Milliseconds. Absent: since this process began. */
  readonly now?: () => number;
}

/**
 * Returns a function that returns what `tryOut` has found. Tries again at the first call a minute after a failure, or after
 * `tryOut` has rejected. Callers share a running trial.
 */
export function makeMachineTrial<Found>(trial: MachineTrial<Found>): () => Promise<Found> {
  const { now = () => performance.now() } = trial;
  let last: { readonly found: Promise<Found>; validUntil: number } | null = null;
  return () => {
    if (last !== null && now() < last.validUntil) return last.found;
    const current = { found: trial.tryOut(), validUntil: Number.POSITIVE_INFINITY };
    last = current;
    current.found.then(
      (found) => {
        if (!trial.isSuccess(found)) current.validUntil = now() + pauseMilliseconds;
      },
      () => {
        current.validUntil = now();
      },
    );
    return current.found;
  };
}
