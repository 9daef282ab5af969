/**
 * Who comes first when the processors are busy: what the server itself does, and a worker that boots because somebody
 * waits for it, before pages on workers that are warm, and before workers that are made ahead. Otherwise a site with
 * many visitors would slow down its own push, or its move to another version of PHP, and all of them would wait longer.
 */
import { readdirSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/** Linux keeps a priority for each thread; those that begin later have that of the thread which begins them. */
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
      // It has ended, or only root may put it forward again.
    }
  }
}

/**
 * Puts a process, which must be a child of this one, so many of the system's steps behind this one; 0 is beside it. One that
 * has just ended is tolerated. Where it would come forward, see `mayComeForward`.
 */
export function setStepsBack(pid: number, steps: number): void {
  setPriorities(pid, Math.min(getPriority() + steps, constants.priority.PRIORITY_LOW));
}

/** Whether a process that was put behind can be put forward again: Linux lets only root. */
export function mayComeForward(): boolean {
  return process.getuid?.() === 0;
}
