import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { canRaisePriority, lowerPriority } from "./priority.ts";

/** Starts a process that has started all of its threads and waits. */
async function startProcess(): Promise<{ readonly pid: number; end(): Promise<void> }> {
  const child = spawn(process.execPath, ["--eval", "console.log('here'); setInterval(() => undefined, 1e6)"]);
  const exited = once(child, "exit");
  const end = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  onTestFinished(end);
  await once(child.stdout, "data");
  return { pid: child.pid ?? 0, end };
}

const lower = Math.min(getPriority() + 5, 19);

test("lowers the priority of all threads of a process, once", async () => {
  const { pid } = await startProcess();
  const own = getPriority();
  for (const _ of ["once", "again"]) lowerPriority(pid, 5);
  const threads = process.platform === "linux" ? readdirSync(`/proc/${pid}/task`).map(Number) : [pid];
  expect(threads.map((thread) => getPriority(thread))).toEqual(threads.map(() => lower));
  expect(getPriority()).toBe(own);
});

test("ignores a process that has ended", async () => {
  const { pid, end } = await startProcess();
  await end();
  lowerPriority(pid, 5);
});

test("raises the priority again if the system allows it", async () => {
  const { pid } = await startProcess();
  lowerPriority(pid, 5);
  lowerPriority(pid, 0);
  expect(getPriority(pid)).toBe(canRaisePriority() ? getPriority() : lower);
});
