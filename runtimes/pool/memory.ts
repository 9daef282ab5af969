/**
 * Kills workers that use too much memory during a request. PHP's own limit, which a script can lift, doesn't include
 * uploads or output that is read slowly. Both are memory here, and one request could exhaust the machine's.
 */
import { residentBytes } from "../processMemory.ts";
import type { Worker } from "./worker.ts";

const intervalMilliseconds = 200;

interface Watched {
  readonly worker: Worker;
  readonly limitBytes: number;
  /** Called just before the worker is killed. */
  readonly onExcess: () => void;
}

async function check({ worker, limitBytes, onExcess }: Watched): Promise<void> {
  const bytes = await residentBytes(worker.pid);
  if (bytes > 0) worker.rssBytes = bytes;
  if (bytes <= limitBytes || worker.isBroken) return;
  onExcess();
  worker.kill("crashed");
}

/**
 * Watches the workers that `watched` returns at the time, and records their memory. Works on Linux only. Returns a function
 * that stops watching.
 */
export function watchMemory(watched: () => readonly Watched[]): () => void {
  const timer = setInterval(() => {
    for (const each of watched()) void check(each);
  }, intervalMilliseconds);
  timer.unref();
  return () => clearInterval(timer);
}
