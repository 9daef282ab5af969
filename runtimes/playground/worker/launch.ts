/**
 * Starts workers through a process of their own, the launcher. While a process starts another one, the system copies its page tables,
 * and it can't do anything else: in an edge of 400 MB nearly 20 ms, for which every visitor would wait. The launcher is small.
 * It passes on orders and reports, and hands the edge its end of the channel for requests, so responses don't go through it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { nodeWithoutNewPrivileges } from "../../expendable.ts";
import { leaveEdgeGroup } from "../../processor/companies.ts";
import type { Order, Report } from "./messages.ts";

/** To the launcher. `id` is a number for the worker that the edge chooses. */
export type LauncherOrder =
  | { readonly type: "start"; readonly id: number; readonly codeCache: string }
  | { readonly type: "order"; readonly id: number; readonly order: Order }
  | { readonly type: "kill"; readonly id: number };

/** From the launcher. The message `started` comes with the channel. */
export type LauncherReport =
  | { readonly type: "started"; readonly id: number; readonly pid: number }
  | { readonly type: "report"; readonly id: number; readonly report: Report }
  | { readonly type: "errorText"; readonly id: number; readonly text: string }
  | {
      readonly type: "exited";
      readonly id: number;
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    };

export interface LaunchEvents {
  started(pid: number, channel: Socket): void;
  report(report: Report): void;
  /** The process has written to its error output. */
  errorText(text: string): void;
  /** The process is gone, or could not be started. */
  exited(): void;
}

/** A worker's process. `pid` is absent until it has been started. */
export interface Launched extends Pick<ChildProcess, "pid" | "exitCode" | "signalCode"> {
  send(order: Order): void;
  kill(): void;
}

const launcherModule = fileURLToPath(new URL("./launcher.ts", import.meta.url));

class LaunchedWorker implements Launched {
  pid: number | undefined;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  readonly events: LaunchEvents;
  channel: Socket | null = null;
  readonly #tell: (order: LauncherOrder) => void;
  readonly #id: number;

  constructor(id: number, events: LaunchEvents, tell: (order: LauncherOrder) => void) {
    this.#id = id;
    this.events = events;
    this.#tell = tell;
  }

  send(order: Order): void {
    this.#tell({ type: "order", id: this.#id, order });
  }

  kill(): void {
    this.#tell({ type: "kill", id: this.#id });
  }
}

interface Launcher {
  launch(codeCache: string, events: LaunchEvents): Launched;
}

let current: Launcher | null = null;
let lastId = 0;

/** Starts a worker. Orders may follow at once. `codeCache`: folder in which Node caches our compiled code across workers. */
export function launchWorker(codeCache: string, events: LaunchEvents): Launched {
  current ??= startLauncher();
  return current.launch(codeCache, events);
}

/** Kills a worker whose launcher is gone. It would end by itself, but only when PHP is not running. */
function killLost({ pid, channel }: LaunchedWorker): void {
  channel?.destroy();
  try {
    if (pid !== undefined) process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function startLauncher(): Launcher {
  const workers = new Map<number, LaunchedWorker>();
  // It gets no environment variables, some of which are secrets.
  const child = fork(launcherModule, {
    ...nodeWithoutNewPrivileges([]),
    env: {},
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  // Workers must not begin with the edge's share of processor time.
  leaveEdgeGroup(child.pid);
  // If it has just ended, its end is noticed anyway.
  const tell = (order: LauncherOrder) => void child.send(order, () => undefined);

  /** This process may end when no worker is left. */
  function keepRunning(): void {
    if (workers.size > 0) {
      child.ref();
      child.channel?.ref();
    } else {
      child.unref();
      child.channel?.unref();
    }
  }

  function end(id: number, code: number | null, signal: NodeJS.Signals | null): void {
    const worker = workers.get(id);
    if (worker === undefined) return;
    workers.delete(id);
    keepRunning();
    worker.exitCode = code;
    worker.signalCode = signal;
    worker.events.exited();
  }

  child.on("message", (report: LauncherReport, channel: unknown) => {
    const worker = workers.get(report.id);
    if (report.type === "exited") end(report.id, report.code, report.signal);
    else if (report.type === "report") worker?.events.report(report.report);
    else if (report.type === "errorText") worker?.events.errorText(report.text);
    else if (worker !== undefined && channel instanceof Socket) {
      worker.pid = report.pid;
      worker.channel = channel;
      worker.events.started(report.pid, channel);
    }
  });
  const endAll = () => {
    current = null;
    for (const [id, worker] of workers) {
      killLost(worker);
      end(id, null, "SIGKILL");
    }
  };
  child.once("exit", endAll).once("error", endAll);
  keepRunning();
  return {
    launch(codeCache, events) {
      lastId += 1;
      const worker = new LaunchedWorker(lastId, events, tell);
      workers.set(lastId, worker);
      keepRunning();
      tell({ type: "start", id: lastId, codeCache });
      return worker;
    },
  };
}
