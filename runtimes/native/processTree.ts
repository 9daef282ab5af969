/** Finds processes that belong to another one, from Linux's `/proc`. */
import { readFileSync } from "node:fs";

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // The process has ended.
    return "";
  }
}

/** The ids of a process's children, and theirs. */
export function descendantsOf(pid: number): readonly number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

/** What a process calls itself, with the parameters that it was started with; empty if it has ended. */
export function titleOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
}
