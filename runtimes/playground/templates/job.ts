/** Work with PHP that a process does once and ends: whatever PHP did to it, it ends with it. */
import { fork } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { RuntimeFailure } from "../../runtime.ts";

type Outcome =
  | { readonly done: true; readonly result?: unknown }
  | { readonly done: false; readonly reason: string; readonly isForCustomer: boolean };

function isOutcome(value: unknown): value is Outcome {
  return typeof value === "object" && value !== null && "done" in value;
}

/** This process's own variables hold secrets. With Node's cache of compiled code a job begins after a third of the time. */
function variables(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}

export interface JobOptions {
  readonly deadlineSeconds: number;
  /** As `os.setPriority` has it, but never above this process's own; absent: the same as this process's. */
  readonly priority?: number;
  /** Node's flags for the process; absent: none. */
  readonly flags?: readonly string[];
  /** Ends the process. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the job in a process whose main module, a path relative to this file, calls `serveJob`. Resolves with what the
 * work came to; rejects with its reason, with `RuntimeFailure` where the work did.
 */
export function runJob(
  module: string,
  job: object,
  { deadlineSeconds, priority, flags = [], signal }: JobOptions,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL(module, import.meta.url)), {
      env: variables(),
      execArgv: [...flags],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      timeout: deadlineSeconds * 1000,
      killSignal: "SIGKILL",
      ...(signal && { signal }),
    });
    // At once: Linux gives a thread the priority that the thread which starts it has by then.
    if (priority !== undefined && child.pid !== undefined) setPriority(child.pid, Math.max(priority, getPriority()));
    child.once("error", reject);
    child.once("message", (outcome: unknown) => {
      if (!isOutcome(outcome)) reject(new Error(`${module} said something else than its outcome.`));
      else if (outcome.done) resolve(outcome.result);
      else reject(outcome.isForCustomer ? new RuntimeFailure(outcome.reason) : new Error(outcome.reason));
    });
    child.once("exit", (code, signal) => {
      const fail = () => reject(new Error(`${module} ended with ${code ?? signal}.`));
      // Where another process ends at the same moment its end may be heard of before what it has said.
      if (child.connected) child.once("disconnect", fail);
      else fail();
    });
    child.send(job);
  });
}

function tell(outcome: Outcome): void {
  process.send?.(outcome, () => process.kill(process.pid, "SIGKILL"));
}

/** Does the one job that it receives. If the parent dies, the work is abandoned. */
export function serveJob<Job>(work: (job: Job) => Promise<unknown>): void {
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.once("message", (job: Job) => {
    work(job).then(
      (result) => tell({ done: true, result }),
      (error: unknown) => {
        const isForCustomer = error instanceof RuntimeFailure;
        tell({ done: false, reason: isForCustomer ? error.message : String(error), isForCustomer });
      },
    );
  });
}
