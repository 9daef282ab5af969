/** Workers are started by a process of their own, the launcher. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { launchWorker } from "./launch.ts";

/** A worker loads its modules before it notices anything. */
const patience = { timeout: 20_000 };

/** Starts a worker. Collects what happens to it. */
async function launch() {
  const codeCache = await mkdtemp(join(tmpdir(), "launch-"));
  onTestFinished(() => rm(codeCache, { recursive: true, force: true, maxRetries: 5 }));
  const happened: string[] = [];
  const exited = Promise.withResolvers<void>();
  const worker = launchWorker(codeCache, {
    started: () => happened.push("started"),
    report: ({ type }) => happened.push(type),
    errorText: () => undefined,
    exited: () => exited.resolve(),
  });
  onTestFinished(() => worker.kill());
  return { worker, codeCache, happened, exited: exited.promise };
}

/** The process that started the one with this id. */
function parentOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
}

const isRunning = (pid: number) => readdirSync("/proc").includes(String(pid));

test("a worker that is killed before it has been started exits", async () => {
  const { worker, exited } = await launch();
  worker.kill();
  await exited;
  expect([worker.exitCode, worker.signalCode]).toEqual([null, "SIGKILL"]);
});

test("if the launcher dies, its workers exit, and the next one gets a new launcher", async () => {
  const [one, other] = [await launch(), await launch()];
  await vi.waitFor(() => expect([one.happened, other.happened]).toEqual([["started"], ["started"]]));
  const pids = [one.worker.pid ?? 0, other.worker.pid ?? 0];
  const launcher = parentOf(pids[0] ?? 0);
  expect(parentOf(launcher)).toBe(process.pid);
  process.kill(launcher, "SIGKILL");
  await Promise.all([one.exited, other.exited]);
  await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), patience);

  const next = await launch();
  next.worker.send({ type: "boot", phpVersion: "8.3", compiled: null, codeCache: next.codeCache });
  await vi.waitFor(() => expect(next.happened).toEqual(["started", "ready"]), patience);
});
