/**
 * Starts processes through a process of their own, the starter. While a process starts another one, the system copies its page
 * tables, and it can't do anything else: 10 ms in a control process of 200 MB, several times in each backup, for which all requests
 * of the API would wait. The starter is small.
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { leaveEdgeGroup } from "../processor/companies.ts";
import type { CommandEnd, CommandStart, JobStart, Outcome, StarterOrder, StarterReport } from "./orders.ts";

const mainModule = fileURLToPath(new URL("./main.ts", import.meta.url));

interface Starter {
  /** `listen` gets the answer, or null if the starter has ended without one. Returns a function that kills a job. */
  ask(order: (id: number) => StarterOrder, listen: (report: StarterReport | null) => void): () => void;
}

let current: Starter | null = null;
let lastId = 0;

/** Runs a job. Rejects with the signal's reason if it is aborted, when the job's process has ended. */
export async function startJob(start: JobStart, signal?: AbortSignal): Promise<Outcome> {
  signal?.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<StarterReport | null>();
  const kill = running().ask((id) => ({ type: "job", id, start }), resolve);
  signal?.addEventListener("abort", kill, { once: true });
  const report = await promise.finally(() => signal?.removeEventListener("abort", kill));
  if (report?.type === "job" && report.outcome.done) return report.outcome;
  signal?.throwIfAborted();
  return report?.type === "job" ? report.outcome : { done: false, reason: lost, isForCustomer: false };
}

/** Runs a command. Resolves however it ends. */
export async function startCommand(start: CommandStart): Promise<CommandEnd> {
  const { promise, resolve } = Promise.withResolvers<StarterReport | null>();
  running().ask((id) => ({ type: "command", id, start }), resolve);
  const report = await promise;
  if (report?.type === "command") return report.end;
  return { stdout: "", stderr: "", failure: { message: lost, code: null } };
}

const lost = "The process that starts others has ended.";

function running(): Starter {
  current ??= startStarter();
  return current;
}

function startStarter(): Starter {
  const listeners = new Map<number, (report: StarterReport | null) => void>();
  const child = fork(mainModule, { execArgv: [], env: variables(), stdio: ["ignore", "ignore", "inherit", "ipc"] });
  // Its processes must not begin with the edge's share of processor time.
  leaveEdgeGroup(child.pid);

  const answer = (id: number, report: StarterReport | null) => {
    const listen = listeners.get(id);
    listeners.delete(id);
    keepRunning(child, listeners.size > 0);
    listen?.(report);
  };
  child.on("message", (report: StarterReport) => answer(report.id, report));
  const endAll = () => {
    if (current === starter) current = null;
    for (const id of [...listeners.keys()]) answer(id, null);
  };
  child.once("exit", endAll).once("error", endAll);
  // If it has just ended, its end is noticed anyway.
  const tell = (order: StarterOrder) => void child.send(order, () => undefined);
  const starter: Starter = {
    ask(order, listen) {
      lastId += 1;
      const id = lastId;
      listeners.set(id, listen);
      keepRunning(child, true);
      tell(order(id));
      return () => tell({ type: "kill", id });
    },
  };
  return starter;
}

/** It gets no other environment variables, some of which are secrets. */
function variables(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };
}

/** This process may end when it waits for nothing. */
function keepRunning(child: ChildProcess, isNeeded: boolean): void {
  if (isNeeded) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}
