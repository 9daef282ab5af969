/** Runs the program that prepares the runtime, to its end. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import type { Progress } from "@sitewright/runtimes/runtime.ts";
import { Type } from "typebox";
import { Value } from "typebox/value";

const progressMessage = Type.Object({
  type: Type.Literal("progress"),
  phase: Type.String(),
  done: Type.Number(),
  total: Type.Union([Type.Number(), Type.Null()]),
});

export interface PreparationProgram {
  /** File and arguments for Node. */
  readonly parameters: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** Resolves when everything is there. Rejects with what the program wrote as its reason. */
export async function prepareInProcess(program: PreparationProgram, progress: Progress): Promise<void> {
  const child = spawn(process.execPath, [...program.parameters], {
    env: program.env,
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    signal: program.signal,
    killSignal: "SIGKILL",
  });
  child.on("message", (message) => {
    if (Value.Check(progressMessage, message)) {
      progress(message);
    }
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  const [code, complaint] = await Promise.all([ended, child.stderr === null ? "" : text(child.stderr)]);
  if (code !== 0) {
    throw new Error(complaint.trim() || `What WordPress needs could not be prepared (exit code ${code}).`);
  }
}
