/**
 * Who comes first when the processors are busy: what the server itself does, and a worker that boots because somebody
 * waits for it, before pages on workers that are warm, and before workers that are made ahead. Otherwise a site with
 * many visitors would slow down its own push, or its move to another version of PHP, and all of them would wait longer.
 */
import { readdirSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";

/** In the system's steps: five of them make about a third of the time. */
const steps = 5;

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

/** Puts a process, which must be a child of this one, behind this one. One that has just ended is tolerated. */
export function lowerPriority(pid: number): void {
  setPriorities(pid, Math.min(getPriority() + steps, constants.priority.PRIORITY_LOW));
}

/** Puts it beside this one again, where the system lets us: Linux lets only root. */
export function restorePriority(pid: number): void {
  setPriorities(pid, getPriority());
}
