/**
 * Starts our Node programs as children that end soon after this process does. They end by themselves when the IPC
 * channel closes. If one hangs, a watcher kills its process group: it reads a pipe whose only write end is ours.
 */
import { type ChildProcess, spawn } from "node:child_process";

export interface NodeProgram {
  /** File and arguments. */
  readonly parameters: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Starts the watcher, then replaces the shell by the program. As long as the watcher lives, the group's id can't be
 * reused. It closes the IPC channel (descriptor 3) and the outputs, so that we notice when the program closes them.
 */
const script = `group=$$; (read -r _ <&4 || { sleep 2; kill -s KILL -- -$group; }) >/dev/null 2>&1 3>&- & exec 4<&-; exec "$@"`;

/**
 * Standard output and error are pipes. The child leads its own process group, so that Ctrl-C in the terminal does not
 * reach it.
 */
export function spawnNode({ parameters, env }: NodeProgram): ChildProcess {
  return spawn("/bin/sh", ["-c", script, "sh", process.execPath, ...parameters], {
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc", "pipe"],
  });
}

/** Kills a child and its process group. */
export function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) {
      process.kill(-child.pid, "SIGKILL");
    }
  } catch {
    // The group is empty.
  }
}
