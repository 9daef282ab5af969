/**
 * Ends a worker that takes too much memory while it answers. PHP's own limit, which a script may lift, doesn't
 * count what it leaves in `/tmp`, nor an answer that it writes faster than it is read: both are memory here, and
 * within one request they could fill the machine's.
 */
import { readFile } from "node:fs/promises";
import type { WorkerProcess } from "../worker/process.ts";

const lookMilliseconds = 200;

/** Zero where the system doesn't say, or the process is gone. */
export async function residentBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}

export interface Watched {
  readonly worker: WorkerProcess;
  readonly limitBytes: number;
  /** It is about to be ended. */
  readonly onExcess: () => void;
}

async function check({ worker, limitBytes, onExcess }: Watched): Promise<void> {
  if ((await residentBytes(worker.pid)) <= limitBytes || worker.isBroken) return;
  onExcess();
  worker.kill("crashed");
}

/** Watches whatever `watched` gives at the time. Only Linux tells; elsewhere nothing happens. Returns the end of it. */
export function watchMemory(watched: () => readonly Watched[]): () => void {
  const timer = setInterval(() => {
    for (const each of watched()) void check(each);
  }, lookMilliseconds);
  timer.unref();
  return () => clearInterval(timer);
}
