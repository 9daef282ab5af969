/** The machine's processors: whether they are at rest, and how much of their time other virtual machines got. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants, cpus, setPriority } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** Since the machine began, all processors together, in milliseconds. */
interface ProcessorTimes {
  readonly busy: number;
  readonly all: number;
  /** Wanted by this machine, and given to others by the one below it. 0 where the system does not say. */
  readonly stolen: number;
}

const linuxTimes = "/proc/stat";
const tickMilliseconds = 10;
/** In Linux's line: user, nice, system, idle, iowait, irq, softirq, steal. */
const stolenField = 8;

function stolenTime(): number {
  if (!existsSync(linuxTimes)) return 0;
  const [line = ""] = readFileSync(linuxTimes, "utf8").split("\n");
  return Number(line.split(/\s+/)[stolenField] ?? 0) * tickMilliseconds;
}

function processorTimes(): ProcessorTimes {
  const stolen = stolenTime();
  const times = cpus().map(({ times: { user, nice, sys, idle, irq } }) => ({ busy: user + nice + sys + irq, idle }));
  const sum = (of: (time: { busy: number; idle: number }) => number) =>
    times.reduce((total, time) => total + of(time), 0);
  return { busy: sum(({ busy }) => busy), all: sum(({ busy, idle }) => busy + idle) + stolen, stolen };
}

const sessionPriority = "/proc/self/autogroup";

/**
 * This process gets what nobody else wants. It must lead a session of its own: Linux may share the processors among sessions
 * first, and then the priority of a process counts only among those of its session.
 */
export function standBehindAll(): void {
  setPriority(constants.priority.PRIORITY_LOW);
  if (existsSync(sessionPriority)) writeFileSync(sessionPriority, String(constants.priority.PRIORITY_LOW));
}

const lookMilliseconds = 250;
const restingShare = 0.1;

/** Waits, for a minute at most, until the processors have next to nothing to do. */
export async function untilAtRest(): Promise<void> {
  let before = processorTimes();
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; ) {
    await delay(lookMilliseconds);
    const now = processorTimes();
    if (now.busy - before.busy < restingShare * (now.all - before.all)) return;
    before = now;
  }
}

/** Does the work, and says how much of the processors' time others got meanwhile. */
export async function withStolenShare<T>(
  work: () => Promise<T>,
): Promise<{ readonly value: T; readonly stolen: string }> {
  const before = processorTimes();
  const value = await work();
  const after = processorTimes();
  const share = (after.stolen - before.stolen) / Math.max(1, after.all - before.all);
  return { value, stolen: `${(share * 100).toFixed(0)} % of the processors' time went to other machines` };
}
