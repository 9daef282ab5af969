/** Processor load: waits until the machine is idle, and measures steal time. */
import { existsSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** Since boot, summed over all processors, in milliseconds. */
interface ProcessorTimes {
  readonly busy: number;
  readonly all: number;
  /** Time that the hypervisor gave to other virtual machines. 0 if the system does not report it. */
  readonly stolen: number;
}

const linuxTimes = "/proc/stat";
const tickMilliseconds = 10;
/** Linux's fields: user, nice, system, idle, iowait, irq, softirq, steal. */
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

const intervalMilliseconds = 250;
const idleLoad = 0.1;

/** Waits until the processors are idle, for at most so many seconds. */
export async function untilIdle(seconds = 60): Promise<void> {
  let before = processorTimes();
  for (const deadline = performance.now() + seconds * 1_000; performance.now() < deadline; ) {
    await delay(intervalMilliseconds);
    const now = processorTimes();
    if (now.busy - before.busy < idleLoad * (now.all - before.all)) return;
    before = now;
  }
}

/** Runs the work and measures the steal time meanwhile. */
export async function withStealTime<T>(
  work: () => Promise<T>,
): Promise<{ readonly value: T; readonly stealTime: string }> {
  const before = processorTimes();
  const value = await work();
  const after = processorTimes();
  const share = (after.stolen - before.stolen) / Math.max(1, after.all - before.all);
  return { value, stealTime: `steal time: ${(share * 100).toFixed(0)} %` };
}
