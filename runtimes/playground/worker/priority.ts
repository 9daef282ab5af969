/**
 * CPU priorities of processes. The server itself, and workers that boot while someone waits for them, come before warm
 * workers that render pages, and before workers that are started in advance. Otherwise a busy site would slow down its
 * own push or PHP version change, and all of these would take longer.
 */
import { readdirSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/**
 * Returns the threads of a process. Linux has a priority for each thread; new threads inherit it from the thread that
 * starts them.
 */
function threadsOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}

function setPriorities(pid: number, priority: number): void {
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, priority);
    } catch {
      // The thread has ended, or only root may raise its priority.
    }
  }
}

/**
 * Sets the priority of a child process to `steps` below this process; 0 is the same priority. Ignores a process that
 * has just ended. Raising a priority needs `canRaisePriority`.
 */
export function lowerPriority(pid: number, steps: number): void {
  setPriorities(pid, Math.min(getPriority() + steps, constants.priority.PRIORITY_LOW));
}

/** Whether a lowered priority can be raised again: Linux allows it only to root. */
export function canRaisePriority(): boolean {
  return process.getuid?.() === 0;
}
