/**
 * Starts our Node programs as children that end soon after this process does. They end by themselves when the IPC
 * channel closes. If one hangs, a watcher kills its process group: it reads a pipe whose only write end is ours.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { announceSockets, type InheritedSocket } from "@sitewright/server/inheritedSockets.ts";

export interface NodeProgram {
  /** File and arguments. */
  readonly parameters: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Sockets that the program inherits. Absent: none. */
  readonly sockets?: readonly InheritedSocket[];
}

/** Sockets are announced to one process, so a shell adds its process id and then becomes the program. */
const programScript = `export LISTEN_PID=$$; exec "$@"`;

/** How long a child may take to end by itself when this process was killed. The edge finishes requests meanwhile. */
const secondsToEnd = 4;

/** A line on the pipe means that the program has ended: the watcher must not signal its process id, which may have been reused. */
const watcherScript = `read -r _ || { sleep ${secondsToEnd}; kill -s KILL -- -$1; }`;

/**
 * Standard output and error are pipes. The child leads its own process group, so that Ctrl-C in the terminal does not
 * reach it.
 */
export function spawnNode({ parameters, env, sockets = [] }: NodeProgram): ChildProcess {
  const child = spawn("/bin/sh", ["-c", programScript, "sh", process.execPath, ...parameters], {
    env: { ...env, ...announceSockets(sockets) },
    detached: true,
    stdio: ["ignore", "pipe", "pipe", ...sockets.map(({ descriptor }) => descriptor), "ipc"],
  });
  if (child.pid !== undefined) watch(child, child.pid);
  return child;
}

/**
 * Not in the child's process group, where it would inherit the child's sockets: their ports would be in use, and connections to them
 * wait in vain, for as long as it lives.
 */
function watch(child: ChildProcess, group: number): void {
  const watcher = spawn("/bin/sh", ["-c", watcherScript, "sh", String(group)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watcher.on("error", () => undefined);
  watcher.stdin.on("error", () => undefined);
  child.once("exit", () => watcher.stdin.end("ended\n"));
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
