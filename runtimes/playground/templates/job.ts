/** Work with PHP that a process does once and ends: whatever PHP did to it, it ends with it. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

type Outcome = { readonly done: true } | { readonly done: false; readonly reason: string };

function isOutcome(value: unknown): value is Outcome {
  return typeof value === "object" && value !== null && "done" in value;
}

/** Runs the job in a process whose main module, a file beside this one, calls `serveJob`. Rejects with its reason. */
export function runJob(module: string, job: object, deadlineSeconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL(module, import.meta.url)), {
      env: {},
      execArgv: [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      timeout: deadlineSeconds * 1000,
      killSignal: "SIGKILL",
    });
    child.once("error", reject);
    child.once("message", (outcome: unknown) => {
      if (!isOutcome(outcome)) reject(new Error(`${module} said something else than its outcome.`));
      else if (outcome.done) resolve();
      else reject(new Error(outcome.reason));
    });
    child.once("exit", (code, signal) => reject(new Error(`${module} ended with ${code ?? signal}.`)));
    child.send(job);
  });
}

function tell(outcome: Outcome): void {
  process.send?.(outcome, () => process.kill(process.pid, "SIGKILL"));
}

/** Does the one job that comes. Who waits for it may die: nobody wants the work then. */
export function serveJob<Job>(work: (job: Job) => Promise<void>): void {
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.once("message", (job: Job) => {
    work(job).then(
      () => tell({ done: true }),
      (error: unknown) => tell({ done: false, reason: String(error) }),
    );
  });
}
