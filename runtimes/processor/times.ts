/**
 * How much processor time companies have used. Their control groups count it (`groups.ts`), including that of processes that have ended:
 * a company whose processes all live shorter than the time between two looks at them would seem idle otherwise. Where no group counts,
 * as with version 1 in some containers, only processes that exist are counted.
 */
import { readFileSync, statSync } from "node:fs";
import path from "node:path";

/** Processor time that only grows. `of`: the group or process that has used it since it was made, and no other later or earlier one. */
export interface UsedTime {
  readonly of: string;
  readonly milliseconds: number;
}

/** Linux counts the time of processes in these ticks on every machine. */
const tickMilliseconds = 10;

/** Reads the time of all processes that were ever in the group. Null if there is no such group, or it does not count. */
export function timeOfGroup(group: string): UsedTime | null {
  try {
    const milliseconds = readUsage(group);
    // A group that is made again has another number.
    return { of: `${group} ${statSync(group, { bigint: true }).ino}`, milliseconds };
  } catch {
    return null;
  }
}

/** Throws if the group does not count. */
function readUsage(group: string): number {
  // Nanoseconds with version 1, microseconds with version 2.
  const first = readIfThere(path.join(group, "cpuacct.usage"));
  if (first !== null) return Number(first) / 1e6;
  const [, microseconds] = /^usage_usec (\d+)$/m.exec(readFileSync(path.join(group, "cpu.stat"), "utf8")) ?? [];
  if (microseconds === undefined) throw new Error(`${group} does not count processor time.`);
  return Number(microseconds) / 1e3;
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}

/** Reads the time of all threads of a process, including ended ones. Null if the system doesn't report it, or the process is gone. */
export function timeOfProcess(pid: number): UsedTime | null {
  const text = readIfThere(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The preceding name may contain anything, including brackets and spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  // Its start distinguishes the process from an earlier one with the same id.
  return { of: `${pid} ${fields[19]}`, milliseconds: (Number(fields[11]) + Number(fields[12])) * tickMilliseconds };
}

/** Reads the time of all processes of the machine together. Empty if the system doesn't report it. */
export function timesOfMachine(): readonly UsedTime[] {
  const [, user, nice, system] = /^cpu +(\d+) (\d+) (\d+) /m.exec(readIfThere("/proc/stat") ?? "") ?? [];
  if (user === undefined) return [];
  return [{ of: "machine", milliseconds: (Number(user) + Number(nice) + Number(system)) * tickMilliseconds }];
}

/** The times of each company. */
export type CompanyTimes = ReadonlyMap<string, readonly UsedTime[]>;

/** Returns a function that returns the milliseconds that each company has used since the previous call; at first since now. */
export function makeTimeCounter(read: () => CompanyTimes): () => ReadonlyMap<string, number> {
  let before = byOwner(read());
  return () => {
    const times = read();
    const since = ({ of, milliseconds }: UsedTime) => milliseconds - (before.get(of) ?? 0);
    const used = [...times].map(
      ([company, all]) => [company, all.reduce((sum, time) => sum + since(time), 0)] as const,
    );
    before = byOwner(times);
    return new Map(used);
  };
}

function byOwner(times: CompanyTimes): ReadonlyMap<string, number> {
  return new Map([...times.values()].flat().map(({ of, milliseconds }) => [of, milliseconds]));
}
