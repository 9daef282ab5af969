/** Runs a piece of work with PHP in a process that then ends, together with everything PHP has done to it. */
import { fork } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { setDeadline } from "../../deadline.ts";
import { RuntimeFailure } from "../../runtime.ts";

type Outcome =
  | { readonly done: true; readonly result?: unknown }
  | { readonly done: false; readonly reason: string; readonly isForCustomer: boolean };

function isOutcome(value: unknown): value is Outcome {
  return typeof value === "object" && value !== null && "done" in value;
}

/**
 * The environment variables of a job. This process's own contain secrets. With Node's compile cache a job starts in a
 * third of the time.
 */
function variables(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}

interface JobOptions {
  /** In running time, see `setDeadline`. */
  readonly deadlineSeconds: number;
  /** As in `os.setPriority`, but never above this process's own priority; absent: the same priority. */
  readonly priority?: number;
  /** Node flags for the process; absent: none. */
  readonly flags?: readonly string[];
  /** Kills the process when aborted. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the job in a process whose main module, a path relative to this file, calls `serveJob`. Resolves with the
 * result. Rejects with the work's error, as `RuntimeFailure` if it was one.
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
      killSignal: "SIGKILL",
      ...(signal && { signal }),
    });
    const cancelDeadline = setDeadline(deadlineSeconds, () => {
      reject(new RuntimeFailure(`It took longer than ${deadlineSeconds} seconds, and was stopped.`));
      child.kill();
    });
    // Immediately, because new threads inherit the priority that their thread has by then.
    if (priority !== undefined && child.pid !== undefined) setPriority(child.pid, Math.max(priority, getPriority()));
    child.once("error", (error) => {
      cancelDeadline();
      reject(error);
    });
    child.once("message", (outcome: unknown) => {
      if (!isOutcome(outcome)) reject(new Error(`${module} sent an unknown message.`));
      else if (outcome.done) resolve(outcome.result);
      else reject(outcome.isForCustomer ? new RuntimeFailure(outcome.reason) : new Error(outcome.reason));
    });
    child.once("exit", (code, signal) => {
      cancelDeadline();
      const fail = () => reject(new Error(`${module} ended with ${code ?? signal}.`));
      // If another process ends at the same moment, the exit may be reported before the result.
      if (child.connected) child.once("disconnect", fail);
      else fail();
    });
    child.send(job);
  });
}

function sendOutcome(outcome: Outcome): void {
  process.send?.(outcome, () => process.kill(process.pid, "SIGKILL"));
}

/** Runs the one job that it receives. If the parent process dies, the work is abandoned. */
export function serveJob<Job>(work: (job: Job) => Promise<unknown>): void {
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.once("message", (job: Job) => {
    work(job).then(
      (result) => sendOutcome({ done: true, result }),
      (error: unknown) => {
        const isForCustomer = error instanceof RuntimeFailure;
        sendOutcome({ done: false, reason: isForCustomer ? error.message : String(error), isForCustomer });
      },
    );
  });
}
