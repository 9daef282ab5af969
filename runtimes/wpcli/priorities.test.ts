import { type ChildProcess, spawn } from "node:child_process";
import { getPriority } from "node:os";
import { afterEach, expect, test, vi } from "vitest";
import { createCommandPriorities } from "./priorities.ts";

const children: ChildProcess[] = [];
const lowest = 19;

function start(script: string): ChildProcess {
  const child = spawn(process.execPath, ["-e", script]);
  children.push(child);
  return child;
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

test("commands of a company that uses a whole processor get the lowest priority, and a quiet company's do not", async () => {
  const { watch } = createCommandPriorities({ sharesProcessor: true });
  const busy = start("for (;;);");
  const more = start("for (;;);");
  const quiet = start("setInterval(() => {}, 1000);");
  for (const child of [busy, more]) watch("busy", child).setYielding(true);
  watch("quiet", quiet).setYielding(true);
  const steps = (child: ChildProcess) => getPriority(child.pid ?? 0) - getPriority();
  expect(steps(quiet)).toBe(5);
  await vi.waitUntil(() => getPriority(busy.pid ?? 0) > getPriority(quiet.pid ?? 0), { timeout: 60_000 });
  expect(steps(quiet)).toBe(5);
  // The next command of the same company boots at the usual priority.
  const next = start("setInterval(() => {}, 1000);");
  const priority = watch("busy", next);
  expect(steps(next)).toBe(0);
  priority.setYielding(true);
  await vi.waitUntil(() => steps(next) > 5 || getPriority(next.pid ?? 0) === lowest, { timeout: 60_000 });
});
