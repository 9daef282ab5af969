/**
 * A Node process of ours as a part: it says `{ type: "ready" }` over IPC once it listens, ends on SIGTERM, and
 * ends when the IPC channel closes, which is how it learns that the supervisor was killed.
 */
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { LogFile } from "./logFile.ts";
import { type Ended, EndedEarly, howItEnded, lastWords, type Part, type Run } from "./part.ts";
import { killGroup, type NodeProgram, spawnNode } from "./spawnNode.ts";

export interface ChildProgram extends NodeProgram {
  readonly name: string;
  readonly log: LogFile;
  /** Called with the message that says that it is ready. */
  readonly ready?: (message: object) => void;
  /** Called with every line of output. */
  readonly line: (line: string) => void;
  /** How long it may take to get ready and to end. Milliseconds. */
  readonly patience?: { readonly ready: number; readonly stop: number };
}

const usualPatience = { ready: 60_000, stop: 15_000 };
const lastWordsKept = 20;

export function childPart(program: ChildProgram): Part {
  return { name: program.name, logPath: program.log.path, start: () => startChild(program) };
}

async function startChild(program: ChildProgram): Promise<Run> {
  const patience = program.patience ?? usualPatience;
  const child = spawnNode(program);
  const exited = watchEnd(child, program);
  const late = delay(patience.ready, "late" as const, { ref: false });
  const first = await Promise.race([readyMessage(child, program), exited, late]);
  if (first === "late") {
    killGroup(child);
    const { lastWords: words } = await exited;
    throw new EndedEarly(`It was not ready after ${patience.ready / 1000} s.${lastWords(words, program.log.path)}`);
  }
  if (first !== "ready") {
    throw new EndedEarly(`It ended (${howItEnded(first)}).${lastWords(first.lastWords, program.log.path)}`);
  }
  return { exited, stop: () => stopChild(child, exited, patience.stop), kill: () => killGroup(child) };
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

function watchEnd(child: ChildProcess, program: ChildProgram): Promise<Ended> {
  const words: string[] = [];
  const follow = (stream: Readable | null) => {
    if (stream !== null) {
      createInterface({ input: stream }).on("line", (line) => {
        if (!isStackFrame(line)) {
          words.push(line);
        }
        words.splice(0, words.length - lastWordsKept);
        program.log.write(line);
        program.line(line);
      });
    }
  };
  follow(child.stdout);
  follow(child.stderr);
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ code: null, signal: null, lastWords: [error.message] }));
    child.on("exit", (code, signal) => {
      // Whatever it started ends with it.
      killGroup(child);
      // The last lines may still be on their way; a stray that holds the stream open must not keep us waiting.
      const drained = Promise.race([new Promise((closed) => child.on("close", closed)), delay(500)]);
      drained.then(() => resolve({ code, signal, lastWords: words }));
    });
  });
}

/** The log has them. As last words they would push out what they belong to. */
function isStackFrame(line: string): boolean {
  return /^\s+at /.test(line);
}

async function stopChild(child: ChildProcess, exited: Promise<Ended>, patience: number): Promise<void> {
  child.kill("SIGTERM");
  const first = await Promise.race([exited, delay(patience, "late", { ref: false })]);
  if (first === "late") {
    killGroup(child);
    await exited;
  }
}
