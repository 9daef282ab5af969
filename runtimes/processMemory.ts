/** The memory of processes and of the machine. */
import { readFile } from "node:fs/promises";
import { totalmem } from "node:os";

/** Memory that this process may use, in bytes: the machine's, or a container's limit. */
export function machineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(totalmem(), limit) : totalmem();
}

/** Returns a process's resident memory, or 0 if the system doesn't report it or the process is gone. */
export async function residentBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}
