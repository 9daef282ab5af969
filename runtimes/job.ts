/** Runs a piece of work with PHP or SQLite in a process that then ends, together with everything it has done to it. */
import { type ChildProcess, fork } from "node:child_process";
import { getPriority, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { type Confinement, confine, type JobFiles, type ProcessUser } from "./confinement.ts";
import { setDeadline } from "./deadline.ts";
import { markExpendable } from "./expendable.ts";
import { defaultMemoryMb, maxProcessBytes } from "./memoryLimits.ts";
import { residentBytes } from "./processMemory.ts";
import { leaveEdgeGroup, runAsSpare, shareProcessor } from "./processor/companies.ts";
import { RuntimeFailure } from "./runtime.ts";

type Outcome =
  | { readonly done: true; readonly result?: unknown }
  | { readonly done: false; readonly reason: string; readonly isForCustomer: boolean };

/** A job as its process receives it. */
interface Order {
  readonly job: object;
  /** The user to change to before the work; null: none. */
  readonly user: ProcessUser | null;
}

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

interface TenantJobOptions extends JobOptions {
  readonly files: JobFiles;
  /** The process is killed when it exceeds this memory. Absent: like a PHP worker with the default limits. */
  readonly memoryBytes?: number;
}

/** Lets a process work in its company's share of the processors. */
function share({ source: { companyId } }: JobFiles, pid: number | undefined): void {
  if (companyId === undefined) runAsSpare(pid);
  else shareProcessor(companyId, pid);
}

const memoryCheckMilliseconds = 200;
const tooMuchMemory = "A database of the site needs too much memory to be read.";

/**
 * Runs the job in a process whose main module (a `file:` URL) calls `serveJob`. Resolves with the result. Rejects with the work's error, as `RuntimeFailure` if it was one.
 */
export function runJob(module: URL, job: object, options: JobOptions): Promise<unknown> {
  const node = { execPath: process.execPath, execArgv: [...(options.flags ?? [])], user: null };
  return new Promise((resolve, reject) => {
    leaveEdgeGroup(start(module, job, node, options, { resolve, reject }).pid);
  });
}

/**
 * Like `runJob`, for work on files that PHP has written: the process is confined to its files, and watched for its use of
 * memory. `jobAt` gets a function that returns the path under which the process finds a file.
 */
export async function runTenantJob(
  module: URL,
  jobAt: (at: Confinement["at"]) => object,
  { files, memoryBytes = maxProcessBytes(defaultMemoryMb), ...options }: TenantJobOptions,
): Promise<unknown> {
  const confinement = await confine(files, options.flags ?? []);
  try {
    return await new Promise((resolve, reject) => {
      const child = start(module, jobAt(confinement.at), confinement, options, { resolve, reject });
      markExpendable(child.pid);
      share(files, child.pid);
      watchMemory(child, memoryBytes, () => reject(new RuntimeFailure(tooMuchMemory)));
    });
  } finally {
    await confinement.end();
  }
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

interface Receiver {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

function start(
  module: URL,
  job: object,
  { execPath, execArgv, user }: Pick<Confinement, "execPath" | "execArgv" | "user">,
  { deadlineSeconds, priority, signal }: JobOptions,
  { resolve, reject }: Receiver,
): ChildProcess {
  const child = fork(fileURLToPath(module), {
    env: variables(),
    execPath,
    execArgv,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    killSignal: "SIGKILL",
    ...(signal && { signal }),
  });
  // Immediately, because new threads inherit the priority that their thread has by then.
  if (priority !== undefined && child.pid !== undefined) setPriority(child.pid, Math.max(priority, getPriority()));
  const cancelDeadline = setDeadline(deadlineSeconds, () => {
    reject(new RuntimeFailure(`It took longer than ${deadlineSeconds} seconds, and was stopped.`));
    child.kill("SIGKILL");
  });
  child.once("error", (error) => {
    cancelDeadline();
    reject(error);
  });
  child.once("message", (outcome: unknown) => {
    if (!isOutcome(outcome)) reject(new Error(`${module.pathname} sent an unknown message.`));
    else if (outcome.done) resolve(outcome.result);
    else reject(outcome.isForCustomer ? new RuntimeFailure(outcome.reason) : new Error(outcome.reason));
  });
  child.once("exit", (code, endSignal) => {
    cancelDeadline();
    const fail = () => reject(new Error(`${module.pathname} ended with ${code ?? endSignal}.`));
    // If another process ends at the same moment, the exit may be reported before the result.
    if (child.connected) child.once("disconnect", fail);
    else fail();
  });
  child.send({ job, user } satisfies Order);
  return child;
}

function sendOutcome(outcome: Outcome): void {
  process.send?.(outcome, () => process.kill(process.pid, "SIGKILL"));
}

function becomeUser(user: ProcessUser | null): void {
  if (user === null) return;
  process.setgroups?.([...user.groups]);
  process.setgid?.(user.id);
  process.setuid?.(user.id);
}

/** Runs the one job that it receives. If the parent process dies, the work is abandoned. */
export function serveJob<Job>(work: (job: Job) => Promise<unknown>): void {
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));
  process.once("message", ({ job, user }: { readonly job: Job } & Pick<Order, "user">) => {
    becomeUser(user);
    work(job).then(
      (result) => sendOutcome({ done: true, result }),
      (error: unknown) => {
        const isForCustomer = error instanceof RuntimeFailure;
        sendOutcome({ done: false, reason: isForCustomer ? error.message : String(error), isForCustomer });
      },
    );
  });
}
