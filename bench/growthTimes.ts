/** Processor time of an installation's PostgreSQL and edge, and of this process, which takes the place of the control process. */
import { readdirSync, readFileSync } from "node:fs";
import { descendants } from "@sitewright/e2e/processes.ts";

/** Milliseconds. */
export interface ProcessorTimes {
  readonly control: number;
  readonly database: number;
  readonly edge: number;
}

/** Milliseconds on a processor, of all threads. Zero if the process has ended. */
function millisecondsOf(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.reduce((sum, thread) => {
      const [nanoseconds = "0"] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
      return sum + Number(nanoseconds) / 1e6;
    }, 0);
  } catch {
    return 0;
  }
}

/** Of the processes that this one has started and that have ended, in milliseconds (proc(5): fields 16 and 17). */
function millisecondsOfChildren(): number {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/** By process. `supervisor`: the process id of `npm start`. */
async function timesOfOthers(supervisor: number): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  for (const { id, command } of await descendants(supervisor)) {
    if (/postgres/.test(command)) times.set(`database ${id}`, millisecondsOf(id));
    if (/server\/main\.ts edge/.test(command)) times.set(`edge ${id}`, millisecondsOf(id));
  }
  return times;
}

function millisecondsOfThis(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000 + millisecondsOfChildren();
}

/** Measures the processor time during `work`, without that of the measurement. */
export async function spentDuring(supervisor: number, work: () => Promise<void>): Promise<ProcessorTimes> {
  const before = await timesOfOthers(supervisor);
  const begun = millisecondsOfThis();
  await work();
  const control = millisecondsOfThis() - begun;
  const after = await timesOfOthers(supervisor);
  const sum = (kind: string) =>
    [...after].reduce((total, [key, time]) => total + (key.startsWith(kind) ? time - (before.get(key) ?? 0) : 0), 0);
  return { control, database: sum("database"), edge: sum("edge") };
}
