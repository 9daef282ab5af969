/** Reads how much memory processes use. */
import { readFile } from "node:fs/promises";

/** Returns a process's resident memory, or 0 if the system doesn't report it or the process is gone. */
export async function residentBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}
