import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { mayComeForward, setStepsBack } from "./priority.ts";

/** A process that has begun all of its threads and waits. */
async function waitingProcess(): Promise<{ readonly pid: number; end(): Promise<void> }> {
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

test("a process that was put behind this one is so with all its threads, once and for all", async () => {
  const { pid } = await waitingProcess();
  const own = getPriority();
  for (const _ of ["once", "again"]) setStepsBack(pid, 5);
  const threads = process.platform === "linux" ? readdirSync(`/proc/${pid}/task`).map(Number) : [pid];
  expect(threads.map((thread) => getPriority(thread))).toEqual(threads.map(() => lower));
  expect(getPriority()).toBe(own);
});

test("a process that has ended is tolerated", async () => {
  const { pid, end } = await waitingProcess();
  await end();
  setStepsBack(pid, 5);
});

test("a process is put forward again where the system lets us", async () => {
  const { pid } = await waitingProcess();
  setStepsBack(pid, 5);
  setStepsBack(pid, 0);
  expect(getPriority(pid)).toBe(mayComeForward() ? getPriority() : lower);
});
