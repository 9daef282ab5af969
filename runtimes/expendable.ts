/**
 * What applies to every process that runs a tenant's code or reads its files: if memory runs out, the system kills it
 * before any other, and it can't gain privileges by running another program.
 */
import { accessSync, constants, writeFileSync } from "node:fs";

/** The value of `oom_score_adj` for such a process. */
export const mostExpendable = "1000";
const setprivPlaces = ["/usr/bin/setpriv", "/bin/setpriv"];

/** Lets the system kill a process first that has just been started. Ignores a process that has ended. */
export function markExpendable(pid: number | undefined): void {
  if (process.platform !== "linux" || pid === undefined) return;
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, mostExpendable);
  } catch {
    // It has ended, or the system doesn't allow this.
  }
}

function findSetpriv(): string | null {
  if (process.platform !== "linux") return null;
  for (const place of setprivPlaces) {
    try {
      accessSync(place, constants.X_OK);
      return place;
    } catch {
      // Try the next one.
    }
  }
  return null;
}

const setpriv = findSetpriv();

/** Whether processes can be kept from gaining privileges here. */
export const hasNoNewPrivileges = setpriv !== null;

interface Command {
  readonly file: string;
  readonly parameters: string[];
}

/** Returns how to run a program without a way to gain privileges. */
export function withoutNewPrivileges(file: string, parameters: readonly string[]): Command {
  return setpriv === null
    ? { file, parameters: [...parameters] }
    : { file: setpriv, parameters: ["--no-new-privs", file, ...parameters] };
}

const markAndRun = `{ echo ${mostExpendable} > /proc/self/oom_score_adj; } 2>/dev/null; exec "$@"`;

/** Like `withoutNewPrivileges`, and the system kills the program, and all processes that it starts, first. */
export function asExpendable(file: string, parameters: readonly string[]): Command {
  const command = withoutNewPrivileges(file, parameters);
  return { file: "/bin/sh", parameters: ["-c", markAndRun, "sh", command.file, ...command.parameters] };
}

/** Like `withoutNewPrivileges`, for Node with these flags: options of `fork`. */
export function nodeWithoutNewPrivileges(flags: readonly string[]): { execPath: string; execArgv: string[] } {
  const { file, parameters } = withoutNewPrivileges(process.execPath, flags);
  return { execPath: file, execArgv: parameters };
}
