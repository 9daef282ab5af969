import { existsSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Waits for a state. Throws with `what` if it does not come within the deadline. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>, deadlineMs = 30_000): Promise<void> {
  const giveUp = Date.now() + deadlineMs;
  while (!(await isSo())) {
    if (Date.now() > giveUp) {
      throw new Error(`It did not come about in ${deadlineMs / 1000} s that ${what}`);
    }
    await delay(10);
  }
}

/** False also for a process that has ended and whose parent has not asked about it yet. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsSync("/proc/self") || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
