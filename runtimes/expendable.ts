/**
 * What applies to every process that runs a tenant's code or reads its files: if memory runs out, the system kills it
 * before any other, and it can't gain privileges by running another program.
 */
import { accessSync, constants, writeFileSync } from "node:fs";

const mostExpendable = "1000";
const setprivPlaces = ["/usr/bin/setpriv", "/bin/setpriv"];

/** Lets the system kill the process first, and its future children. Ignores a process that has just ended. */
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

interface NodeCommand {
  readonly execPath: string;
  readonly execArgv: string[];
}

/** Returns how to start Node with these flags as a process that can't gain privileges, for `fork`. */
export function withoutNewPrivileges(flags: readonly string[]): NodeCommand {
  return setpriv === null
    ? { execPath: process.execPath, execArgv: [...flags] }
    : { execPath: setpriv, execArgv: ["--no-new-privs", process.execPath, ...flags] };
}
