/**
 * Decides whether other programs use much of the machine. Then the companies' processes need a large weight next to them
 * (`processor/groups.ts`).
 *
 * Otherwise such a weight does harm: the threads of the system that write to the disk have the weight of one program, and wait for up
 * to 20 ms each time they wake up next to companies' processes that never pause. Every change of the database and of the routing table
 * waits for them several times.
 */
import { type Load, observe } from "./fairness.ts";

/** Parts of the cores. Other programs use much from the first one on, until they have used less than the second for a while. */
const muchPart = 1 / 4;
const littlePart = 1 / 8;
/** Milliseconds. */
const calmMilliseconds = 10_000;
const halfLife = 2_000;

/**
 * Returns a function that gets the milliseconds of CPU time that other programs have used since the previous call, and the present
 * time in milliseconds. `cores`: that the installation may use.
 */
export function makeOtherProgramsRule(cores: number, start: number): (milliseconds: number, now: number) => boolean {
  let load: Load = { cores: 0, at: start };
  let areBusy = true;
  let busyAt = start;
  return (milliseconds, now) => {
    load = observe(load, milliseconds, now, halfLife);
    if (load.cores >= cores * muchPart) areBusy = true;
    if (areBusy && load.cores >= cores * littlePart) busyAt = now;
    areBusy &&= now - busyAt < calmMilliseconds;
    return areBusy;
  };
}
