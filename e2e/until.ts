/** Waits for a state outside this process by polling it up to a deadline. */
import { setTimeout as pause } from "node:timers/promises";

interface Patience {
  readonly deadlineSeconds: number;
  readonly intervalMilliseconds: number;
}

/** Returns the result of `check` as soon as it does not throw. After the deadline, throws its last error. */
export async function until<T>(check: () => Promise<T>, patience: Patience): Promise<T> {
  const end = performance.now() + patience.deadlineSeconds * 1000;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await pause(patience.intervalMilliseconds);
  }
}
