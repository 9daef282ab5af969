/** The starter: starts processes for a process that would be blocked meanwhile. See `starter.ts`. */
import { execFile } from "node:child_process";
import { useProcessorGroups } from "../processor/companies.ts";
import { type JobProcess, startJob } from "./jobProcess.ts";
import type { CommandStart, JobStart, StarterOrder, StarterReport } from "./orders.ts";

const jobs = new Map<number, JobProcess>();
let groups: string | null = null;

function report(sent: StarterReport): void {
  // If the process that asked is gone, this one ends too.
  process.send?.(sent, () => undefined);
}

async function runJob(id: number, start: JobStart): Promise<void> {
  if (start.groups !== null && start.groups !== groups) {
    groups = start.groups;
    useProcessorGroups(groups);
  }
  const job = startJob(start);
  jobs.set(id, job);
  const outcome = await job.outcome;
  jobs.delete(id);
  report({ type: "job", id, outcome });
}

function runCommand(id: number, { program, parameters, ...options }: CommandStart): void {
  const settings = { ...options, env: { PATH: process.env.PATH, LC_ALL: "C" } };
  execFile(program, parameters, settings, (error, stdout, stderr) => {
    const failure = error === null ? null : { message: error.message, code: error.code ?? null };
    report({ type: "command", id, end: { stdout, stderr, failure } });
  });
}

process.on("message", (order: StarterOrder) => {
  const { id } = order;
  if (order.type === "kill") return jobs.get(id)?.kill();
  if (order.type === "command") return runCommand(id, order.start);
  runJob(id, order.start).catch((error: unknown) => {
    // The system has no memory or files left for another process.
    report({ type: "job", id, outcome: { done: false, reason: String(error), isForCustomer: false } });
  });
});
// Jobs notice it too, and end.
process.on("disconnect", () => process.exit());
