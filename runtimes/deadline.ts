/**
 * Deadlines that count running time. On a machine with ten times more work than it has processors, everything gets a tenth of
 * one, and a deadline in seconds of the clock would turn a late result into a failure.
 */
import { cpus, loadavg } from "node:os";

/** How often the load is read. The system updates its average every five seconds. */
const intervalSeconds = 5;
/** More than this is not only load: without a bound, nothing would ever be given up. */
const maxFactor = 10;

/** By how much longer everything takes than on an idle machine: 1 if there are as many processors as work. */
export function machineOverload(): number {
  const [lastMinute = 0] = loadavg();
  // Not `availableParallelism`, which is a container's: the load is that of the whole machine.
  return Math.min(maxFactor, Math.max(1, lastMinute / cpus().length));
}

/**
 * Calls `onTimeUp` after that many seconds of running time. Returns a function that cancels it. `overload` is read at intervals
 * of a few seconds at most.
 */
export function setDeadline(
  seconds: number,
  onTimeUp: () => void,
  overload: () => number = machineOverload,
): () => void {
  let left = seconds;
  let timer: NodeJS.Timeout;
  function wait(): void {
    const factor = overload();
    const pause = Math.min(left * factor, intervalSeconds);
    timer = setTimeout(() => {
      left -= pause / factor;
      if (left > 0.001) wait();
      else onTimeUp();
    }, pause * 1000);
  }
  wait();
  return () => clearTimeout(timer);
}
