/**
 * One run of one of PostgreSQL's programs, which never outlives us: it holds the reading end of a pipe whose
 * writing end only we have, so when we die, however that happens, the pipe closes and it is told to stop.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";
import { createInterface } from "node:readline";
import type { HandedFolders } from "./postgresFolders.ts";
import type { PostgresUser } from "./postgresUser.ts";

export interface PostgresExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines that the program wrote. */
  readonly lastWords: readonly string[];
}

export interface PostgresProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<PostgresExit>;
}

/**
 * A watcher reads the pipe (descriptor 3) and the shell becomes the program. The watcher is a grandchild, so
 * that PostgreSQL never meets a child that it doesn't know. A line on the pipe means "it has ended by itself":
 * its process number may belong to somebody else by then.
 */
const script = `pid=$$; ( ( read -r _ <&3 || kill -INT $pid ) >/dev/null 2>&1 & ); exec 3<&-; exec "$@"`;

const lastWordsKept = 20;

export interface PostgresProgram {
  readonly command: string;
  readonly parameters: readonly string[];
  readonly user: PostgresUser | null;
  readonly folders: HandedFolders;
  /** Called with every line of output. */
  readonly log: (line: string) => void;
}

/** Starts the program in its own session, so that Ctrl-C in the terminal reaches us and not it. */
export function spawnPostgres(program: PostgresProgram): PostgresProcess {
  const child = spawn("/bin/sh", ["-c", script, "sh", program.command, ...program.parameters], {
    // Its own choice of a working folder must not be one that its user may not enter.
    cwd: "/",
    env: { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC" },
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "pipe", ...program.folders.descriptors],
    ...(program.user === null ? {} : { uid: program.user.uid, gid: program.user.gid }),
  });
  const lastWords: string[] = [];
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on("line", (line) => {
      lastWords.push(line);
      lastWords.splice(0, lastWords.length - lastWordsKept);
      program.log(line);
    });
  }
  const pipe = child.stdio[3];
  if (pipe instanceof Socket) {
    pipe.on("error", () => undefined);
    child.on("exit", () => pipe.end("ended\n"));
  }
  const exited = new Promise<PostgresExit>((resolve) => {
    child.on("error", (error) => resolve({ code: null, signal: null, lastWords: [error.message] }));
    child.on("close", (code, signal) => resolve({ code, signal, lastWords }));
  });
  return { child, exited };
}
