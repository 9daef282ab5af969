/**
 * Our own programs as children that never outlive us for long. They end by themselves when the IPC channel closes;
 * for one that hangs, a watcher reads a pipe whose writing end only we have, and ends its whole group.
 */
import { type ChildProcess, spawn } from "node:child_process";

export interface NodeProgram {
  /** File and arguments. */
  readonly parameters: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The shell becomes the program. The watcher keeps the number of the group from being given to another one. It holds
 * neither the channel (descriptor 3) nor the outputs, or nobody would see them close.
 */
const script = `group=$$; (read -r _ <&4 || { sleep 2; kill -s KILL -- -$group; }) >/dev/null 2>&1 3>&- & exec 4<&-; exec "$@"`;

/** Standard output and error are pipes. The child leads a group of its own, so that Ctrl-C in the terminal is ours to pass on. */
export function spawnNode({ parameters, env }: NodeProgram): ChildProcess {
  return spawn("/bin/sh", ["-c", script, "sh", process.execPath, ...parameters], {
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc", "pipe"],
  });
}

/** Ends a child at once, with everything that it started. */
export function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) {
      process.kill(-child.pid, "SIGKILL");
    }
  } catch {
    // The group is empty.
  }
}
