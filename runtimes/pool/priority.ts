/**
 * CPU priorities of processes. The server itself, and workers that boot while someone waits for them, come before warm
 * workers that render pages, and before workers that are started in advance. Otherwise a busy site would slow down its
 * own push or PHP version change, and all of these would take longer.
 */
import type { ChildProcess } from "node:child_process";
import { readdirSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { defaultSteps } from "./fairness.ts";

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

type PrioritizedProcess = Pick<ChildProcess, "pid" | "exitCode" | "signalCode">;

/** The priority of a child process, which follows from whether it yields to others and from its company's load. */
export class ProcessPriority {
  readonly #child: PrioritizedProcess;
  #isYielding = false;
  #loadSteps = defaultSteps;
  /** Steps as set in the system. */
  #currentSteps = 0;

  constructor(child: PrioritizedProcess) {
    this.#child = child;
  }

  /** Lowers the priority from now on, or no longer. */
  setYielding(isYielding: boolean): void {
    this.#isYielding = isYielding;
    this.apply();
  }

  get isYielding(): boolean {
    return this.#isYielding;
  }

  /** Sets by how many steps its company's load lowers the priority. */
  setLoadSteps(steps: number): void {
    this.#loadSteps = steps;
    this.apply();
  }

  /** Whether the priority is lower than it should be and can't be raised: the process should be replaced. */
  get isStuck(): boolean {
    return this.#isYielding && this.#currentSteps > this.#steps && !canRaisePriority();
  }

  get #steps(): number {
    const isLoaded = this.#loadSteps > defaultSteps;
    return this.#isYielding || isLoaded ? this.#loadSteps : 0;
  }

  /** The process is gone. Call `apply` when its successor has started. */
  forgetProcess(): void {
    this.#currentSteps = 0;
  }

  /** Sets the priority in the system. Call it again when the process has started. */
  apply(): void {
    const { pid, exitCode, signalCode } = this.#child;
    const steps = this.#steps;
    if (steps === this.#currentSteps || pid === undefined || exitCode !== null || signalCode !== null) return;
    lowerPriority(pid, steps);
    if (steps > this.#currentSteps || canRaisePriority()) this.#currentSteps = steps;
  }
}

/** Whether a lowered priority can be raised again: Linux allows it only to root. */
export function canRaisePriority(): boolean {
  return process.getuid?.() === 0;
}
