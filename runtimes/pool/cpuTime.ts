/** CPU time of processes, as the system counts it. */
import { readFileSync } from "node:fs";

/** In milliseconds. */
export interface CpuTime {
  /** CPU time of all threads, including ended ones. */
  readonly used: number;
  /** CPU time of PHP's thread plus the time it waited for a CPU: what it would use on an idle machine. */
  readonly wanted: number;
}

/** Linux counts CPU time in these ticks on every machine. */
const tickMilliseconds = 10;
const nanosecondsPerMillisecond = 1e6;

/** Reads a process's CPU time since its start. Null if the system doesn't report it, or the process is gone. */
export function cpuTimeOf(pid: number): CpuTime | null {
  const used = usedTimeOf(pid);
  return used === null ? null : { used, wanted: wantedTimeOf(pid) ?? used };
}

/** Like `cpuTimeOf`, but reads only how many milliseconds the process has used. */
export function usedTimeOf(pid: number): number | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The preceding name may contain anything, including brackets and spaces.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tickMilliseconds;
  } catch {
    return null;
  }
}

/** Reads the wanted CPU time of PHP's thread. Null if the system does not count it. */
function wantedTimeOf(pid: number): number | null {
  try {
    const [ran = "", waited = ""] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ");
    return (Number(ran) + Number(waited)) / nanosecondsPerMillisecond;
  } catch {
    return null;
  }
}

export interface CpuMeter {
  /** Makes the next measurement of the process start now. */
  begin(process: { readonly pid: number }): void;
  /** The process's CPU time since the previous measurement, or since its start. Null if it can't be measured. */
  measure(process: { readonly pid: number }): CpuTime | null;
}

/** `read`: the CPU time of a process since its start. */
export function createCpuMeter(read: (pid: number) => CpuTime | null = cpuTimeOf): CpuMeter {
  const measured = new WeakMap<object, CpuTime>();
  return {
    begin: (process) => void measured.set(process, read(process.pid) ?? { used: 0, wanted: 0 }),
    measure: (process) => {
      const now = read(process.pid);
      if (now === null) return null;
      const before = measured.get(process) ?? { used: 0, wanted: 0 };
      measured.set(process, now);
      return { used: Math.max(0, now.used - before.used), wanted: Math.max(0, now.wanted - before.wanted) };
    },
  };
}
