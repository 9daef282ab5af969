/** CPU time of processes, as the system counts it. */
import { readFileSync } from "node:fs";
import { timeOfProcess } from "../processor/times.ts";

/** In milliseconds. */
export interface CpuTime {
  /** CPU time of all threads, including ended ones. */
  readonly used: number;
  /** CPU time of PHP's thread plus the time it waited for a CPU: what it would use on an idle machine. */
  readonly wanted: number;
}

const nanosecondsPerMillisecond = 1e6;

/** Reads a process's CPU time since its start. Null if the system doesn't report it, or the process is gone. */
export function cpuTimeOf(pid: number): CpuTime | null {
  const used = timeOfProcess(pid)?.milliseconds;
  return used === undefined ? null : { used, wanted: wantedTimeOf(pid) ?? used };
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
