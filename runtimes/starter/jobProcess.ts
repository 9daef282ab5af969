/** The process of one job, seen from the process that starts it. */
import { type ChildProcess, fork } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import { setDeadline } from "../deadline.ts";
import { markExpendable } from "../expendable.ts";
import { residentBytes } from "../processMemory.ts";
import { runAsSpare, shareProcessor } from "../processor/companies.ts";
import { isOutcome, type JobMessage, type JobStart, type Outcome } from "./orders.ts";

export interface JobProcess {
  readonly outcome: Promise<Outcome>;
  kill(): void;
}

const memoryCheckMilliseconds = 200;
const tooMuchMemory = "A database of the site needs too much memory to be read.";

/**
 * The environment variables of a job. Those of the server contain secrets. With Node's compile cache a job starts in a
 * third of the time.
 */
function variables(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}

const failed = (reason: string, isForCustomer: boolean): Outcome => ({ done: false, reason, isForCustomer });

/** Starts the process of a job. Throws if the system does not let it. */
export function startJob(start: JobStart): JobProcess {
  const { module, job, user, execPath, execArgv, priority, tenant } = start;
  const child = fork(module, {
    env: variables(),
    execPath,
    execArgv: [...execArgv],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    killSignal: "SIGKILL",
  });
  // Immediately, because new threads inherit the priority that their thread has by then.
  if (priority !== null && child.pid !== undefined) setPriority(child.pid, Math.max(priority, getPriority()));
  const outcome = new Promise<Outcome>((resolve) => {
    followJob(child, start, resolve);
    if (tenant !== null) watchTenant(child, tenant, resolve);
  });
  child.send({ job, user } satisfies JobMessage, () => undefined);
  return { outcome, kill: () => void child.kill("SIGKILL") };
}

function followJob(
  child: ChildProcess,
  { module, deadlineSeconds }: JobStart,
  resolve: (outcome: Outcome) => void,
): void {
  const cancelDeadline = setDeadline(deadlineSeconds, () => {
    resolve(failed(`It took longer than ${deadlineSeconds} seconds, and was stopped.`, true));
    child.kill("SIGKILL");
  });
  child.once("error", (error) => {
    cancelDeadline();
    resolve(failed(error.message, false));
  });
  child.once("message", (outcome: unknown) => {
    resolve(isOutcome(outcome) ? outcome : failed(`${module} sent an unknown message.`, false));
  });
  child.once("exit", (code, endSignal) => {
    cancelDeadline();
    const fail = () => resolve(failed(`${module} ended with ${code ?? endSignal}.`, false));
    // If another process ends at the same moment, the exit may be reported before the result.
    if (child.connected) child.once("disconnect", fail);
    else fail();
  });
}

function watchTenant(
  child: ChildProcess,
  { companyId, memoryBytes }: NonNullable<JobStart["tenant"]>,
  resolve: (outcome: Outcome) => void,
): void {
  markExpendable(child.pid);
  // It works in its company's share of the processors.
  if (companyId === null) runAsSpare(child.pid);
  else shareProcessor(companyId, child.pid);
  watchMemory(child, memoryBytes, () => resolve(failed(tooMuchMemory, true)));
}

/** Kills the process when it exceeds its memory. */
function watchMemory(child: ChildProcess, limitBytes: number, onExcess: () => void): void {
  const { pid } = child;
  if (pid === undefined) return;
  const check = async () => {
    if ((await residentBytes(pid)) <= limitBytes || child.exitCode !== null) return;
    onExcess();
    child.kill("SIGKILL");
  };
  const timer = setInterval(() => void check(), memoryCheckMilliseconds);
  child.once("exit", () => clearInterval(timer));
}
