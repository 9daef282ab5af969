/** Finds processes that belong to another one, from Linux's `/proc`. */
import { readFileSync } from "node:fs";

/** Without waiting: these files are made in memory when they are read. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // The process has ended.
    return "";
  }
}

/** The ids of a process's children, the oldest first. */
export function childrenOf(pid: number): readonly number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
}

/** The ids of a process's children, and theirs. */
export function descendantsOf(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Returns the process's command line, which it can change; empty if it has ended. */
export function commandLineOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
}

/** Returns how many bytes a process has written to disks. 0 if it has ended, or the system does not say. */
export function writtenByProcess(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(read(`/proc/${pid}/io`))?.[1] ?? 0);
}

/** Kills a process, or with a negative number a process group. It may have ended. */
export function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
