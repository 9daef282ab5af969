/** Runs a piece of work with PHP or SQLite in a process that then ends, together with everything it has done to it. */
import { fileURLToPath } from "node:url";
import { type Confinement, confine, type JobFiles } from "./confinement.ts";
import { defaultMemoryMb, maxProcessBytes } from "./memoryLimits.ts";
import { processorGroups } from "./processor/companies.ts";
import { RuntimeFailure } from "./runtime.ts";
import type { JobMessage, JobStart, Outcome, ProcessUser } from "./starter/orders.ts";
import { startJob } from "./starter/starter.ts";

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

/**
 * Runs the job in a process whose main module (a `file:` URL) calls `serveJob`. Resolves with the result. Rejects with the work's error, as `RuntimeFailure` if it was one.
 */
export function runJob(module: URL, job: object, options: JobOptions): Promise<unknown> {
  const node = { execPath: process.execPath, execArgv: options.flags ?? [], user: null };
  return start(module, job, node, options, null);
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
    const tenant = { companyId: files.source.companyId ?? null, memoryBytes };
    return await start(module, jobAt(confinement.at), confinement, options, tenant);
  } finally {
    await confinement.end();
  }
}

async function start(
  module: URL,
  job: object,
  { execPath, execArgv, user }: Pick<JobStart, "execPath" | "execArgv" | "user">,
  { deadlineSeconds, priority, signal }: JobOptions,
  tenant: JobStart["tenant"],
): Promise<unknown> {
  const process = { module: fileURLToPath(module), execPath, execArgv, deadlineSeconds, tenant };
  const outcome = await startJob(
    { ...process, priority: priority ?? null, job, user, groups: processorGroups() },
    signal,
  );
  if (outcome.done) return outcome.result;
  throw outcome.isForCustomer ? new RuntimeFailure(outcome.reason) : new Error(outcome.reason);
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
  process.once("message", ({ job, user }: { readonly job: Job } & Pick<JobMessage, "user">) => {
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
