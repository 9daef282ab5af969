/** Waiting for a state of something outside this process: asked again and again, up to a deadline. */
import { setTimeout as pause } from "node:timers/promises";

export interface Patience {
  readonly deadlineSeconds: number;
  readonly intervalMilliseconds: number;
}

/** Returns what `check` gives once it stops throwing; past the deadline, throws what it threw last. */
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
