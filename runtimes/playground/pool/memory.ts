/**
 * Kills workers that use too much memory during a request. PHP's own limit, which a script can lift, doesn't include
 * files in `/tmp` or output that is read slowly. Both are memory here, and one request could exhaust the machine's.
 */
import { readFile } from "node:fs/promises";
import type { WorkerProcess } from "../worker/process.ts";

const intervalMilliseconds = 200;

/** Returns a process's resident memory, or 0 if the system doesn't report it or the process is gone. */
export async function residentBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}

interface Watched {
  readonly worker: WorkerProcess;
  readonly limitBytes: number;
  /** Called just before the worker is killed. */
  readonly onExcess: () => void;
}

async function check({ worker, limitBytes, onExcess }: Watched): Promise<void> {
  if ((await residentBytes(worker.pid)) <= limitBytes || worker.isBroken) return;
  onExcess();
  worker.kill("crashed");
}

/**
 * Watches the workers that `watched` returns at the time. Works on Linux only. Returns a function that stops watching.
 */
export function watchMemory(watched: () => readonly Watched[]): () => void {
  const timer = setInterval(() => {
    for (const each of watched()) void check(each);
  }, intervalMilliseconds);
  timer.unref();
  return () => clearInterval(timer);
}
