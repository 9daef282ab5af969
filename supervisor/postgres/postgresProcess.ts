/**
 * Runs one of PostgreSQL's programs, and stops it when this process ends. The child's side reads a pipe whose only
 * write end is ours: when we die, even from SIGKILL, the pipe closes and a watcher stops the program.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { createInterface } from "node:readline";
import type { InheritedFolders } from "./postgresFolders.ts";
import type { PostgresUser } from "./postgresUser.ts";

export interface PostgresExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines of output. */
  readonly lastLines: readonly string[];
}

export interface PostgresProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<PostgresExit>;
}

/**
 * Starts a watcher that reads the pipe (descriptor 3), then replaces the shell by the program. The watcher is a
 * grandchild, so that PostgreSQL has no unknown child process. A line on the pipe means that the program has ended: the
 * watcher must not signal its process id, which may have been reused.
 */
const script = `pid=$$; ( ( read -r _ <&3 || kill -INT $pid ) >/dev/null 2>&1 & ); exec 3<&-; exec "$@"`;

const linesKept = 20;

interface PostgresProgram {
  readonly command: string;
  readonly parameters: readonly string[];
  readonly user: PostgresUser | null;
  readonly folders: InheritedFolders;
  /** Called with every line of output. */
  readonly log: (line: string) => void;
}

/** Starts the program in its own session, so that Ctrl-C in the terminal does not reach it. */
export function spawnPostgres(program: PostgresProgram): PostgresProcess {
  const child = spawn("/bin/sh", ["-c", script, "sh", program.command, ...program.parameters], {
    // A folder that every user can enter.
    cwd: "/",
    env: { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" },
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "pipe", ...program.folders.descriptors],
    ...(program.user === null ? {} : { uid: program.user.uid, gid: program.user.gid }),
  });
  const lastLines: string[] = [];
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on("line", (line) => {
      lastLines.push(line);
      lastLines.splice(0, lastLines.length - linesKept);
      program.log(line);
    });
  }
  const pipe = child.stdio[3];
  if (pipe instanceof Socket) {
    pipe.on("error", () => undefined);
    child.on("exit", () => pipe.end("ended\n"));
  }
  const exited = new Promise<PostgresExit>((resolve) => {
    child.on("error", (error) => resolve({ code: null, signal: null, lastLines: [error.message] }));
    child.on("close", (code, signal) => resolve({ code, signal, lastLines }));
  });
  return { child, exited };
}
