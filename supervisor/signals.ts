/** Ctrl-C: the first stops gracefully, the second kills. */

/**
 * Signals within this time count as one keystroke: the terminal sends one to the whole process group, and npm forwards
 * its own.
 */
const sameKeystrokeMs = 500;

interface SignalHandlers {
  readonly first: () => void;
  readonly again: () => void;
}

/** Returns the signal handler. `now` returns milliseconds. */
export function makeSignalHandler(handlers: SignalHandlers, now = () => performance.now()): () => void {
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
