/** Processor priority of processes that stand for the outside world, which has its own processors. */
import { existsSync, writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";

const sessionPriority = "/proc/self/autogroup";

/**
 * Gives this process a priority. It should lead its own session: Linux may divide processor time between sessions first, and then
 * the priority of a process counts only within its session.
 */
function usePriority(priority: number): void {
  setPriority(priority);
  if (existsSync(sessionPriority)) writeFileSync(sessionPriority, String(priority));
}

/** Gives this process the lowest priority. */
export function useLowestPriority(): void {
  usePriority(constants.priority.PRIORITY_LOW);
}

/** Gives this process, which may have inherited another one, the normal priority. */
export function useNormalPriority(): void {
  usePriority(constants.priority.PRIORITY_NORMAL);
}

/** Gives this process the highest priority, if it is root: it measures others, and must not measure its own waiting. */
export function useHighestPriority(): void {
  if (process.getuid?.() === 0) usePriority(constants.priority.PRIORITY_HIGHEST);
}
