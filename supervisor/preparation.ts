/** Runs the program that prepares the runtime (`prepare.ts`). */
import { text } from "node:stream/consumers";
import type { Progress } from "@sitewright/runtimes/runtime.ts";
import * as v from "valibot";
import { killGroup, type NodeProgram, spawnNode } from "./spawnNode.ts";

const progressMessage = v.object({
  type: v.literal("progress"),
  phase: v.string(),
  done: v.number(),
  total: v.nullable(v.number()),
});

interface PreparationProgram extends NodeProgram {
  readonly signal: AbortSignal;
}

/** Resolves when the runtime is prepared. Rejects with the program's error output. */
export async function prepareInProcess(program: PreparationProgram, progress: Progress): Promise<void> {
  program.signal.throwIfAborted();
  const child = spawnNode(program);
  program.signal.addEventListener("abort", () => killGroup(child), { once: true });
  child.on("message", (message) => {
    if (v.is(progressMessage, message)) {
      progress(message);
    }
  });
  child.stdout?.resume();
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => {
      killGroup(child);
      resolve(code);
    });
  });
  const [code, errors] = await Promise.all([ended, child.stderr === null ? "" : text(child.stderr)]);
  if (code !== 0) {
    throw new Error(errors.trim() || `WordPress and PHP could not be prepared (exit code ${code}).`);
  }
}
