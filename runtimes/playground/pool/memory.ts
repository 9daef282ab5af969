/**
 * Ends a worker that takes too much memory while it answers. PHP's own limit, which a script may lift, doesn't
 * count what it leaves in `/tmp`, nor an answer that it writes faster than it is read: both are memory here, and
 * within one request they could fill the machine's.
 */
import { readFile } from "node:fs/promises";
import type { WorkerProcess } from "../worker/process.ts";

const lookMilliseconds = 200;

/** Zero where the system doesn't say, or the process is gone. */
async function residentBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}

async function check(worker: WorkerProcess, limitBytes: number): Promise<void> {
  if ((await residentBytes(worker.pid)) > limitBytes) worker.kill("crashed");
}

/** Watches whatever `workers` gives at the time. Only Linux tells; elsewhere nothing happens. Returns the end of it. */
export function watchMemory(workers: () => readonly WorkerProcess[], limitBytes: number): () => void {
  const timer = setInterval(() => {
    for (const worker of workers()) void check(worker, limitBytes);
  }, lookMilliseconds);
  timer.unref();
  return () => clearInterval(timer);
}
