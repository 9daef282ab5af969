/** The launcher: starts workers for the edge process, which would be blocked meanwhile. See `launch.ts`. */
import { type ChildProcess, fork } from "node:child_process";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { markExpendable } from "../../expendable.ts";
import { processOptions } from "../php/processOptions.ts";
import type { LauncherOrder, LauncherReport } from "./launch.ts";
import type { Report } from "./messages.ts";

const mainModule = fileURLToPath(new URL("./main.ts", import.meta.url));
const workers = new Map<number, ChildProcess>();

function tell(report: LauncherReport, channel?: Socket): void {
  process.send?.(report, channel);
}

/** Null if the system has no memory or files left for another process. */
function forkWorker(codeCache: string): ChildProcess | null {
  try {
    return fork(mainModule, { ...processOptions(codeCache), stdio: ["ignore", "ignore", "pipe", "ipc", "pipe"] });
  } catch {
    return null;
  }
}

function start(id: number, codeCache: string): void {
  const child = forkWorker(codeCache);
  if (child === null) {
    tell({ type: "exited", id, code: null, signal: null });
    return;
  }
  markExpendable(child.pid);
  workers.set(id, child);
  const exited = (code: number | null, signal: NodeJS.Signals | null) => {
    if (workers.delete(id)) tell({ type: "exited", id, code, signal });
  };
  child.once("exit", exited).once("error", () => exited(null, null));
  child.on("message", (report: Report) => tell({ type: "report", id, report }));
  child.stderr?.on("data", (text: Buffer) => tell({ type: "errorText", id, text: text.toString() }));
  const channel = child.stdio?.[4];
  if (child.pid !== undefined && channel instanceof Socket) tell({ type: "started", id, pid: child.pid }, channel);
}

process.on("message", (order: LauncherOrder) => {
  const { id } = order;
  if (order.type === "start") start(id, order.codeCache);
  else if (order.type === "kill") workers.get(id)?.kill("SIGKILL");
  // If the worker has just died, its exit is noticed anyway.
  else workers.get(id)?.send(order.order, () => undefined);
});
// The workers notice it too, and end.
process.on("disconnect", () => process.exit());
