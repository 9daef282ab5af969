/**
 * A Node process as a service. It sends `{ type: "ready" }` over IPC once it listens, and ends on SIGTERM. It also ends
 * when the IPC channel closes, which happens when the supervisor is killed.
 */
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { LogFile } from "./logFile.ts";
import { describeExit, type Exit, outputTail, type Run, type Service, StartFailed } from "./service.ts";
import { killGroup, type NodeProgram, spawnNode } from "./spawnNode.ts";

interface ChildProgram extends NodeProgram {
  readonly name: string;
  readonly log: LogFile;
  /** Called with the ready message. */
  readonly ready?: (message: object) => void;
  /** Called with every line of output. */
  readonly line: (line: string) => void;
  /** Maximum time to become ready and to stop. Milliseconds. */
  readonly timeouts?: { readonly ready: number; readonly stop: number };
}

/** A slow or busy machine may need minutes to start a process: that is late, and no failure. */
const defaultTimeouts = { ready: 600_000, stop: 15_000 };
const linesKept = 20;

export function childService(program: ChildProgram): Service {
  return { name: program.name, logPath: program.log.path, start: () => startChild(program) };
}

async function startChild(program: ChildProgram): Promise<Run> {
  const timeouts = program.timeouts ?? defaultTimeouts;
  const child = spawnNode(program);
  const exited = watchExit(child, program);
  const timeout = delay(timeouts.ready, "timeout" as const, { ref: false });
  const first = await Promise.race([readyMessage(child, program), exited, timeout]);
  if (first === "timeout") {
    killGroup(child);
    const { lastLines } = await exited;
    throw new StartFailed(
      `It was not ready after ${timeouts.ready / 1000} s.${outputTail(lastLines, program.log.path)}`,
    );
  }
  if (first !== "ready") {
    throw new StartFailed(`It ended (${describeExit(first)}).${outputTail(first.lastLines, program.log.path)}`);
  }
  return { exited, stop: () => stopChild(child, exited, timeouts.stop), kill: () => killGroup(child) };
}

function readyMessage(child: ChildProcess, { ready }: ChildProgram): Promise<"ready"> {
  return new Promise((resolve) => {
    child.on("message", (message) => {
      if (typeof message === "object" && "type" in message && message.type === "ready") {
        ready?.(message);
        resolve("ready");
      }
    });
  });
}

function watchExit(child: ChildProcess, program: ChildProgram): Promise<Exit> {
  const lastLines: string[] = [];
  const follow = (stream: Readable | null) => {
    if (stream !== null) {
      createInterface({ input: stream }).on("line", (line) => {
        if (!isStackFrame(line)) {
          lastLines.push(line);
        }
        lastLines.splice(0, lastLines.length - linesKept);
        program.log.write(line);
        program.line(line);
      });
    }
  };
  follow(child.stdout);
  follow(child.stderr);
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ code: null, signal: null, lastLines: [error.message] }));
    child.on("exit", (code, signal) => {
      // Kills the child's own children too.
      killGroup(child);
      // Wait for the last lines of output, but not long: an orphan may hold the stream open.
      const drained = Promise.race([new Promise((closed) => child.on("close", closed)), delay(500)]);
      drained.then(() => resolve({ code, signal, lastLines }));
    });
  });
}

/** Stack frames are in the log. In an error message they would push out the message itself. */
function isStackFrame(line: string): boolean {
  return /^\s+at /.test(line);
}

async function stopChild(child: ChildProcess, exited: Promise<Exit>, timeoutMs: number): Promise<void> {
  child.kill("SIGTERM");
  const first = await Promise.race([exited, delay(timeoutMs, "timeout", { ref: false })]);
  if (first === "timeout") {
    killGroup(child);
    await exited;
  }
}
