/** Ctrl-C: the first asks everything to end, the next one makes it. */

/**
 * A terminal sends the signal to the whole group, and npm passes on the one that it got itself: within this time
 * two are one.
 */
const sameKeystrokeMs = 500;

export interface SignalHandlers {
  readonly first: () => void;
  readonly again: () => void;
}

/** `now` in milliseconds. Returns what to call for each signal that arrives. */
export function countSignals(handlers: SignalHandlers, now = () => performance.now()): () => void {
  let firstAt: number | null = null;
  return () => {
    if (firstAt === null) {
      firstAt = now();
      handlers.first();
    } else if (now() - firstAt > sameKeystrokeMs) {
      handlers.again();
    }
  };
}
